//! Lists the files of the page for `include_bytes!`, because their names hold digests.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let assets = PathBuf::from(env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?).join("assets");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=assets");
    let mut paths = Vec::new();
    list(&assets, &mut paths)?;
    paths.sort();
    let mut table = String::from("[\n");
    for path in &paths {
        let name = path.strip_prefix(&assets).map_err(io::Error::other)?.to_string_lossy().replace('\\', "/");
        if name != "digest.txt" {
            writeln!(table, "    (\"/{name}\", include_bytes!({path:?})),").map_err(io::Error::other)?;
        }
    }
    table.push(']');
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("asset_table.rs"), table)
}

fn list(folder: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            list(&path, paths)?;
        } else {
            paths.push(path);
        }
    }
    Ok(())
}
