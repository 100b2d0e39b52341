//! The program `norsu`.

#![forbid(unsafe_code)]

#[global_allocator]
static ALLOCATOR: sync::memory::Allocator = sync::memory::Allocator;

fn main() -> std::process::ExitCode {
    server::run(std::env::args_os().collect())
}
