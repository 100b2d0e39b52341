//! The grammar's edge and our own raw parse tree.
