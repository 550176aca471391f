//! Starts `ytterby lsp` for Zed. The program is looked up in the path of the worktree's shell.

use zed_extension_api::{self as zed, Command, LanguageServerId, Result, Worktree};

struct Ytterby;

impl zed::Extension for Ytterby {
    fn new() -> Ytterby {
        Ytterby
    }

    fn language_server_command(&mut self, _: &LanguageServerId, worktree: &Worktree) -> Result<Command> {
        let command = worktree.which("ytterby").ok_or("ytterby is not in PATH")?;
        Ok(Command { command, args: vec!["lsp".to_owned()], env: Vec::new() })
    }
}

zed::register_extension!(Ytterby);
