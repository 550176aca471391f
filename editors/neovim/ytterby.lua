-- ytterby for Neovim 0.7 and newer. Put this file into ~/.config/nvim/plugin/.

-- Templates are told by their code, values files by their names.
vim.api.nvim_create_autocmd({ 'BufRead', 'BufNewFile' }, {
  pattern = { '*.yml', '*.yaml', '*.star' },
  callback = function(event)
    local name = vim.fn.fnamemodify(event.file, ':t')
    local first = table.concat(vim.api.nvim_buf_get_lines(event.buf, 0, 20, false), '\n')
    if name:match('%.star$') or name:match('%.lib%.ya?ml$') or first:match('#@') then
      vim.bo[event.buf].filetype = 'ytt'
    elseif name:match('values.*%.ya?ml$') then
      vim.bo[event.buf].filetype = 'ytt-values'
    end
  end,
})

-- The highlighting of YAML, with the queries of editors/tree-sitter for code in comments.
vim.api.nvim_create_autocmd('FileType', {
  pattern = { 'ytt', 'ytt-values' },
  callback = function(event)
    vim.bo[event.buf].syntax = 'yaml'
    vim.bo[event.buf].commentstring = '#! %s'
  end,
})
pcall(function()
  vim.treesitter.language.register('yaml', { 'ytt', 'ytt-values' })
end)

local command = { vim.env.YTTERBY or 'ytterby', 'lsp' }
local markers = { 'ytterby.yml', '.git' }

if vim.lsp.config then
  -- Neovim 0.11 and newer.
  vim.lsp.config('ytterby', { cmd = command, filetypes = { 'ytt', 'ytt-values' }, root_markers = markers })
  vim.lsp.enable('ytterby')
  return
end

-- The nearest directory upwards with one of the markers, or that of the file.
local function root_of(file)
  local directory = vim.fn.fnamemodify(file, ':p:h')
  local at = directory
  while true do
    for _, marker in ipairs(markers) do
      if vim.loop.fs_stat(at .. '/' .. marker) then
        return at
      end
    end
    local parent = vim.fn.fnamemodify(at, ':h')
    if parent == at then
      return directory
    end
    at = parent
  end
end

-- One server for each root.
local clients = {}
vim.api.nvim_create_autocmd('FileType', {
  pattern = { 'ytt', 'ytt-values' },
  callback = function(event)
    local root = root_of(event.file)
    local id = clients[root]
    if not id or not vim.lsp.get_client_by_id(id) then
      local folders = { { uri = vim.uri_from_fname(root), name = root } }
      id = vim.lsp.start_client({ name = 'ytterby', cmd = command, root_dir = root, workspace_folders = folders })
      clients[root] = id
    end
    if id then
      vim.lsp.buf_attach_client(event.buf, id)
    end
  end,
})
