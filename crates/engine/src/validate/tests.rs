//! Rules as annotations give them.
