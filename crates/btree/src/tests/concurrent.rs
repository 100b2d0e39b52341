//! Threads that insert, scan and vacuum at once.
