//! The directory tree: pending and durable entries.

use super::content::Content;
use super::{Space, os_error};
use crate::disk::{DirEntry, FileKind};
use crate::random::SeededRandom;
use std::collections::BTreeMap;
use std::io;
use sync::{Arc, Mutex};

/// Number of a node.
pub(super) type Ino = usize;

/// The data directory, where relative paths start.
const ROOT: Ino = 0;
/// The root directory, where absolute paths start.
const TOP: Ino = 1;
/// Most symbolic links followed in one path.
const LINKS_MAX: u32 = 16;

#[derive(Clone)]
pub(super) enum Node {
    File(Arc<Mutex<Content>>),
    Dir { pending: BTreeMap<String, Ino>, durable: BTreeMap<String, Ino> },
    Link(String),
}

impl Node {
    pub(super) fn empty_dir() -> Node {
        Node::Dir { pending: BTreeMap::new(), durable: BTreeMap::new() }
    }
}

/// A change of directory entries, which a crash keeps or loses as a whole.
#[derive(Clone)]
struct Change {
    /// Directory, name, and the node of the name after the change.
    effects: Vec<(Ino, String, Option<Ino>)>,
}

pub(super) struct Tree {
    nodes: Vec<Node>,
    /// Changes that are not durable yet, in order.
    changes: Vec<Change>,
}

impl Tree {
    pub(super) fn new() -> Tree {
        Tree { nodes: vec![Node::empty_dir(), Node::empty_dir()], changes: Vec::new() }
    }

    pub(super) fn node(&self, ino: Ino) -> &Node {
        &self.nodes[ino]
    }

    /// The node of a path, following links. Errors are those of the directories on the way.
    pub(super) fn find(&self, path: &str) -> io::Result<Option<Ino>> {
        let mut budget = LINKS_MAX;
        self.walk(ROOT, path, true, &mut budget)
    }

    /// As `find`, not following a link at the end.
    pub(super) fn find_last(&self, path: &str) -> io::Result<Option<Ino>> {
        let mut budget = LINKS_MAX;
        self.walk(ROOT, path, false, &mut budget)
    }

    fn walk(
        &self,
        start: Ino,
        path: &str,
        follow_last: bool,
        budget: &mut u32,
    ) -> io::Result<Option<Ino>> {
        let mut at = if path.starts_with('/') { TOP } else { start };
        let mut parts = path.split('/').filter(|p| !p.is_empty() && *p != ".").peekable();
        while let Some(part) = parts.next() {
            let Node::Dir { pending, .. } = &self.nodes[at] else {
                return Err(os_error(libc::ENOTDIR));
            };
            let last = parts.peek().is_none();
            let Some(&child) = pending.get(part) else {
                return if last { Ok(None) } else { Err(os_error(libc::ENOENT)) };
            };
            at = match &self.nodes[child] {
                Node::Link(target) if !last || follow_last => {
                    *budget = budget.checked_sub(1).ok_or_else(|| os_error(libc::ELOOP))?;
                    match self.walk(at, target, true, budget)? {
                        Some(ino) => ino,
                        None if last => return Ok(None),
                        None => return Err(os_error(libc::ENOENT)),
                    }
                }
                _ => child,
            };
        }
        Ok(Some(at))
    }

    /// The directory that holds the path's last name, and that name.
    fn parent_of(&self, path: &str) -> io::Result<(Ino, String)> {
        let path = path.trim_end_matches('/');
        let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
        if name.is_empty() || name == "." {
            return Err(os_error(libc::EINVAL));
        }
        let dir = if path.starts_with('/') { format!("/{dir}") } else { dir.to_owned() };
        let ino = self.find(&dir)?.ok_or_else(|| os_error(libc::ENOENT))?;
        match self.nodes[ino] {
            Node::Dir { .. } => Ok((ino, name.to_owned())),
            _ => Err(os_error(libc::ENOTDIR)),
        }
    }

    pub(super) fn create(&mut self, path: &str, node: Node) -> io::Result<Ino> {
        let (dir, name) = self.parent_of(path)?;
        if self.entry(dir, &name).is_some() {
            return Err(os_error(libc::EEXIST));
        }
        self.nodes.push(node);
        let ino = self.nodes.len() - 1;
        self.change(vec![(dir, name, Some(ino))]);
        Ok(ino)
    }

    pub(super) fn unlink(&mut self, path: &str, space: &Space) -> io::Result<()> {
        let (dir, name) = self.parent_of(path)?;
        let ino = self.entry(dir, &name).ok_or_else(|| os_error(libc::ENOENT))?;
        if matches!(self.nodes[ino], Node::Dir { .. }) {
            return Err(os_error(libc::EISDIR));
        }
        self.free_space_of(ino, space);
        self.change(vec![(dir, name, None)]);
        Ok(())
    }

    pub(super) fn remove_dir(&mut self, path: &str) -> io::Result<()> {
        let (dir, name) = self.parent_of(path)?;
        let ino = self.entry(dir, &name).ok_or_else(|| os_error(libc::ENOENT))?;
        match &self.nodes[ino] {
            Node::Dir { pending, .. } if pending.is_empty() => {}
            Node::Dir { .. } => return Err(os_error(libc::ENOTEMPTY)),
            _ => return Err(os_error(libc::ENOTDIR)),
        }
        self.change(vec![(dir, name, None)]);
        Ok(())
    }

    pub(super) fn rename(&mut self, from: &str, to: &str, space: &Space) -> io::Result<()> {
        let (from_dir, from_name) = self.parent_of(from)?;
        let (to_dir, to_name) = self.parent_of(to)?;
        let ino = self.entry(from_dir, &from_name).ok_or_else(|| os_error(libc::ENOENT))?;
        if let Some(old) = self.entry(to_dir, &to_name) {
            if old == ino {
                return Ok(());
            }
            match (&self.nodes[ino], &self.nodes[old]) {
                (Node::Dir { .. }, Node::Dir { pending, .. }) if !pending.is_empty() => {
                    return Err(os_error(libc::ENOTEMPTY));
                }
                (Node::Dir { .. }, Node::Dir { .. }) => {}
                (Node::Dir { .. }, _) => return Err(os_error(libc::ENOTDIR)),
                (_, Node::Dir { .. }) => return Err(os_error(libc::EISDIR)),
                _ => self.free_space_of(old, space),
            }
        }
        self.change(vec![(from_dir, from_name, None), (to_dir, to_name, Some(ino))]);
        Ok(())
    }

    pub(super) fn list(&self, path: &str) -> io::Result<Vec<DirEntry>> {
        let ino = self.find(path)?.ok_or_else(|| os_error(libc::ENOENT))?;
        let Node::Dir { pending, .. } = &self.nodes[ino] else {
            return Err(os_error(libc::ENOTDIR));
        };
        let entry = |(name, &ino): (&String, &Ino)| DirEntry {
            name: name.clone(),
            kind: match self.nodes[ino] {
                Node::File(_) => FileKind::File,
                Node::Dir { .. } => FileKind::Dir,
                Node::Link(_) => FileKind::Symlink,
            },
        };
        Ok(pending.iter().map(entry).collect())
    }

    /// Makes the changes of this directory durable; a rename out of it or into it as a whole.
    pub(super) fn sync_dir(&mut self, path: &str) -> io::Result<()> {
        let dir = self.find(path)?.ok_or_else(|| os_error(libc::ENOENT))?;
        if !matches!(self.nodes[dir], Node::Dir { .. }) {
            return Err(os_error(libc::ENOTDIR));
        }
        let (done, left) = std::mem::take(&mut self.changes)
            .into_iter()
            .partition(|c| c.effects.iter().any(|(d, _, _)| *d == dir));
        self.changes = left;
        for change in done {
            self.apply_durably(&change);
        }
        Ok(())
    }

    fn entry(&self, dir: Ino, name: &str) -> Option<Ino> {
        match &self.nodes[dir] {
            Node::Dir { pending, .. } => pending.get(name).copied(),
            _ => None,
        }
    }

    fn change(&mut self, effects: Vec<(Ino, String, Option<Ino>)>) {
        for (dir, name, ino) in &effects {
            if let Node::Dir { pending, .. } = &mut self.nodes[*dir] {
                set(pending, name, *ino);
            }
        }
        self.changes.push(Change { effects });
    }

    fn apply_durably(&mut self, change: &Change) {
        for (dir, name, ino) in &change.effects {
            if let Node::Dir { durable, .. } = &mut self.nodes[*dir] {
                set(durable, name, *ino);
            }
        }
    }

    fn free_space_of(&self, ino: Ino, space: &Space) {
        if let Node::File(content) = &self.nodes[ino] {
            content.lock().unlink(space);
        }
    }

    /// A copy of the tree with nothing pending: contents by `contents`, entries the durable ones,
    /// or with `from_pending` the pending ones.
    fn rebuilt(&self, contents: impl Fn(&Content) -> Content, from_pending: bool) -> Tree {
        let nodes = self.nodes.iter().map(|node| match node {
            Node::File(content) => Node::File(Arc::new(Mutex::new(contents(&content.lock())))),
            Node::Dir { pending, durable } => {
                let names = if from_pending { pending } else { durable };
                Node::Dir { pending: names.clone(), durable: names.clone() }
            }
            Node::Link(target) => Node::Link(target.clone()),
        });
        Tree { nodes: nodes.collect(), changes: Vec::new() }
    }

    pub(super) fn only_durable(&self) -> Tree {
        self.rebuilt(Content::only_durable, false)
    }

    pub(super) fn all_durable(&self) -> Tree {
        self.rebuilt(Content::all_durable, true)
    }

    pub(super) fn crashed(&self, random: &SeededRandom) -> Tree {
        let mut tree = self.rebuilt(|content| content.crashed(random), false);
        let quarters = random.below(5);
        for change in &self.changes {
            if random.below(4) < quarters {
                tree.apply_durably(change);
            }
        }
        tree.discard_pending();
        tree
    }

    fn discard_pending(&mut self) {
        for node in &mut self.nodes {
            if let Node::Dir { pending, durable } = node {
                pending.clone_from(durable);
            }
        }
    }

    /// Bytes in all files that have a name.
    pub(super) fn bytes(&self) -> u64 {
        let mut sum = 0;
        self.visit(|_, node| {
            if let Node::File(content) = node {
                sum += content.lock().len() as u64;
            }
        });
        sum
    }

    pub(super) fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.visit(|path, _| paths.push(path.to_owned()));
        paths.sort();
        paths
    }

    fn visit(&self, mut see: impl FnMut(&str, &Node)) {
        let mut stack = vec![(String::new(), ROOT), ("/".to_owned(), TOP)];
        while let Some((prefix, dir)) = stack.pop() {
            let Node::Dir { pending, .. } = &self.nodes[dir] else { continue };
            for (name, &ino) in pending {
                let path = format!("{prefix}{name}");
                see(&path, &self.nodes[ino]);
                if matches!(self.nodes[ino], Node::Dir { .. }) {
                    stack.push((format!("{path}/"), ino));
                }
            }
        }
    }
}

fn set(names: &mut BTreeMap<String, Ino>, name: &str, ino: Option<Ino>) {
    match ino {
        Some(ino) => names.insert(name.to_owned(), ino),
        None => names.remove(name),
    };
}
