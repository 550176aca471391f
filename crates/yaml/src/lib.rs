//! YAML 1.1 as ytt reads and writes it.
//!
//! [`parse`] turns bytes into a [`Tree`] with every comment and position. The writers in
//! [`mod@write`] are driven call by call, so that any tree can be written without converting it
//! first. Nothing here knows about templates: a comment is text.
//!
//! ```
//! use ytterby_diag::FileId;
//! use ytterby_yaml::write::{YamlWriter, write_tree};
//! use ytterby_yaml::{ReadOptions, View, parse};
//!
//! let tree = parse(b"name: 'shop'\nports: [80, 0x50]\n", FileId(0), &ReadOptions::default())?;
//! let View::Map(items) = tree.value(tree.documents()[0].value) else { panic!("not a map") };
//! assert_eq!(items[1].pos.offset, 13);
//!
//! let mut writer = YamlWriter::new();
//! write_tree(&tree, &mut writer);
//! assert_eq!(writer.finish(), b"name: shop\nports:\n- 80\n- 80\n");
//! # Ok::<(), ytterby_yaml::ReadError>(())
//! ```

mod fmt;
mod outline;
mod read;
mod resolve;
mod scalar;
mod scan;
mod tree;
pub mod write;

pub use fmt::{format, format_in_place};
pub use outline::outline;
pub use read::{ByteOrderMark, ReadError, ReadOptions, parse, parse_shared, parse_slowly, rewrite};
pub use resolve::resolve;
pub use scalar::{ComplexKey, Scalar};
pub use tree::{
    ArrayItem, Comment, Commented, Document, MapItem, NodeId, Style, Tree, View, has_duplicate_keys, last_wins,
};
pub use write::Sink;
