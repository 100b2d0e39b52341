//! One pass over the syntax trees of a crate: its modules, the paths in them, and the items that
//! are too large.

use super::flat::is_flat_table;
use super::{
    FIELDS_MAX, FUNCTION_LINES_MAX, Item, METHODS_MAX, Measure, PARAMETERS_MAX, Package, Result,
};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Meta, Signature, Token, UseTree};

/// A module: a file, or a part of one.
pub(super) struct Module {
    pub(super) parent: Option<usize>,
    pub(super) file: String,
    pub(super) children: BTreeMap<String, usize>,
    /// Names that `use` items of the module define.
    pub(super) imported: BTreeSet<String>,
    /// The directory of child modules' files.
    directory: String,
    is_test: bool,
    is_prelude: bool,
}

/// A path of at least two segments, or of a `use` item.
pub(super) struct Reference {
    /// The module that contains the path.
    pub(super) module: usize,
    pub(super) segments: Vec<String>,
    /// Begins with `::`.
    pub(super) is_absolute: bool,
    pub(super) is_use: bool,
    pub(super) is_test: bool,
    pub(super) line: usize,
}

#[derive(Default)]
pub(super) struct Scan {
    pub(super) modules: Vec<Module>,
    pub(super) references: Vec<Reference>,
    pub(super) items: Vec<Item>,
}

impl Scan {
    pub(super) fn root_of(&self, mut module: usize) -> usize {
        while let Some(parent) = self.modules[module].parent {
            module = parent;
        }
        module
    }
}

/// Follows the `mod` declarations from `src/lib.rs` and `src/main.rs`. Files outside `src` are
/// tests, benchmarks and examples: all of them count as tests.
pub(super) fn scan(package: &Package) -> Result<Scan> {
    let mut scanner = Scanner {
        package,
        scan: Scan::default(),
        pending: Vec::new(),
        done: BTreeSet::new(),
        module: 0,
        test_depth: 0,
        owners: Vec::new(),
    };
    for root in ["src/lib.rs", "src/main.rs"] {
        scanner.scan_tree(root)?;
    }
    for file in package.files.keys().filter(|f| !f.starts_with("src/")) {
        scanner.scan_tree(file)?;
    }
    match package.files.keys().find(|f| !scanner.done.contains(*f)) {
        Some(file) => Err(format!("{}/{file} belongs to no module", package.name)),
        None => Ok(scanner.scan),
    }
}

struct Scanner<'a> {
    package: &'a Package,
    scan: Scan,
    /// Modules in files that have not been parsed yet.
    pending: Vec<usize>,
    /// Files that have been parsed.
    done: BTreeSet<String>,
    /// The current module.
    module: usize,
    /// Number of the enclosing items that are for tests only.
    test_depth: usize,
    /// The types, traits and functions that enclose the current item.
    owners: Vec<String>,
}

impl Scanner<'_> {
    fn scan_tree(&mut self, root: &str) -> Result<()> {
        if !self.package.files.contains_key(root) || self.done.contains(root) {
            return Ok(());
        }
        self.scan.modules.push(Module {
            parent: None,
            file: root.to_owned(),
            children: BTreeMap::new(),
            imported: BTreeSet::new(),
            directory: directory_of(root).to_owned(),
            is_test: !root.starts_with("src/"),
            is_prelude: false,
        });
        self.pending.push(self.scan.modules.len() - 1);
        while let Some(module) = self.pending.pop() {
            self.scan_file(module)?;
        }
        Ok(())
    }

    fn scan_file(&mut self, module: usize) -> Result<()> {
        let file = self.scan.modules[module].file.clone();
        if !self.done.insert(file.clone()) {
            return Ok(());
        }
        // A file of another package is counted there.
        if file.starts_with("../") {
            return Ok(());
        }
        let place = || format!("{}/{file}", self.package.name);
        let text = self.package.files.get(&file).ok_or_else(|| format!("no file {}", place()))?;
        let tree = syn::parse_file(text)
            .map_err(|e| format!("{}:{}: {e}", place(), e.span().start().line))?;
        self.module = module;
        self.test_depth = usize::from(self.scan.modules[module].is_test);
        self.visit_file(&tree);
        Ok(())
    }

    /// The module of a `mod` item; two with the same name (under different `cfg`) are one.
    fn child(&mut self, node: &syn::ItemMod) -> usize {
        let name = node.ident.to_string();
        let parent = &self.scan.modules[self.module];
        if let Some(child) = parent.children.get(&name) {
            return *child;
        }
        let mut directory = format!("{}/{name}", parent.directory);
        let file = if node.content.is_some() {
            parent.file.clone()
        } else if let Some(path) = path_attribute(&node.attrs) {
            // Modules within a file named by `#[path]` are beside that file.
            let file = joined(directory_of(&parent.file), &path);
            directory = directory_of(&file).to_owned();
            file
        } else {
            let nested = format!("{directory}/mod.rs");
            let is_nested = self.package.files.contains_key(&nested);
            if is_nested { nested } else { format!("{directory}.rs") }
        };
        let module = Module {
            parent: Some(self.module),
            file,
            children: BTreeMap::new(),
            imported: BTreeSet::new(),
            directory,
            is_test: self.test_depth > 0,
            is_prelude: parent.is_prelude || name == "prelude",
        };
        self.scan.modules.push(module);
        let child = self.scan.modules.len() - 1;
        self.scan.modules[self.module].children.insert(name, child);
        child
    }

    fn add_item(&mut self, measure: Measure, line: usize, name: &str, size: usize) {
        let mut full = self.owners.clone();
        full.push(name.to_owned());
        self.scan.items.push(Item {
            measure,
            package: self.package.name.clone(),
            file: self.scan.modules[self.module].file.clone(),
            line,
            name: full.join("::"),
            size,
        });
    }

    fn add_reference(
        &mut self,
        segments: Vec<String>,
        is_absolute: bool,
        is_use: bool,
        line: usize,
    ) {
        let is_test = self.test_depth > 0;
        let module = self.module;
        let reference = Reference { module, segments, is_absolute, is_use, is_test, line };
        self.scan.references.push(reference);
    }

    fn add_function(&mut self, signature: &Signature, body: Option<&Block>) {
        let name = signature.ident.to_string();
        let line = signature.ident.span().start().line;
        let is_parameter = |a: &&syn::FnArg| matches!(a, syn::FnArg::Typed(_));
        let parameters = signature.inputs.iter().filter(is_parameter).count();
        if parameters > PARAMETERS_MAX {
            self.add_item(Measure::ManyParameters, line, &name, parameters);
        }
        let Some(body) = body else { return };
        let braces = body.brace_token.span;
        let lines = (braces.close().start().line - braces.open().start().line).saturating_sub(1);
        if lines > FUNCTION_LINES_MAX && !is_flat_table(body) {
            self.add_item(Measure::LongFunctions, line, &name, lines);
        }
    }

    /// The paths of a `use` tree; `prefix` contains the segments before it.
    fn add_use(&mut self, tree: &UseTree, prefix: &[String], is_absolute: bool) {
        let with = |name: &syn::Ident| {
            let mut path = prefix.to_vec();
            path.push(name.to_string());
            path
        };
        match tree {
            UseTree::Path(p) => self.add_use(&p.tree, &with(&p.ident), is_absolute),
            UseTree::Group(g) => {
                for tree in &g.items {
                    self.add_use(tree, prefix, is_absolute);
                }
            }
            UseTree::Name(n) => {
                // `use a::b::{self}` imports `b`.
                let is_self = n.ident == "self" && !prefix.is_empty();
                let path = if is_self { prefix.to_vec() } else { with(&n.ident) };
                let name = path.last().cloned().unwrap_or_default();
                self.add_import(path, name, is_absolute, n.ident.span().start().line);
            }
            UseTree::Rename(r) => {
                let line = r.ident.span().start().line;
                self.add_import(with(&r.ident), r.rename.to_string(), is_absolute, line);
            }
            UseTree::Glob(g) => {
                let line = g.star_token.spans[0].start().line;
                let is_prelude = self.scan.modules[self.module].is_prelude
                    || prefix.last().is_some_and(|s| s == "prelude");
                if self.test_depth == 0 && !is_prelude {
                    let name = format!("{}::*", prefix.join("::"));
                    self.add_item(Measure::Globs, line, &name, 1);
                }
                self.add_reference(prefix.to_vec(), is_absolute, true, line);
            }
        }
    }

    fn add_import(&mut self, path: Vec<String>, name: String, is_absolute: bool, line: usize) {
        if path.len() > 1 {
            self.scan.modules[self.module].imported.insert(name);
        }
        self.add_reference(path, is_absolute, true, line);
    }

    /// The paths in the arguments or rules of a macro.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let is_colon = |i: usize| match tokens.get(i) {
            Some(TokenTree::Punct(p)) => p.as_char() == ':',
            _ => false,
        };
        let is_separator = |i: usize| is_colon(i) && is_colon(i + 1);
        let mut i = 0;
        while i < tokens.len() {
            match &tokens[i] {
                TokenTree::Group(group) => self.add_tokens(group.stream()),
                TokenTree::Ident(first) => {
                    let is_absolute = i >= 2 && is_separator(i - 2);
                    let mut segments = vec![first.to_string()];
                    while is_separator(i + 1)
                        && let Some(TokenTree::Ident(next)) = tokens.get(i + 3)
                    {
                        segments.push(next.to_string());
                        i += 3;
                    }
                    // `a::{…}`, but not `f::<T>()`.
                    let is_group = || matches!(tokens.get(i + 3), Some(TokenTree::Group(_)));
                    if segments.len() > 1 || is_separator(i + 1) && is_group() {
                        let line = first.span().start().line;
                        self.add_reference(segments, is_absolute, false, line);
                    }
                }
                _ => {}
            }
            i += 1;
        }
    }

    /// Visits the inside of an item with these attributes.
    fn inside(&mut self, attributes: &[Attribute], visit: impl FnOnce(&mut Self)) {
        let depth = usize::from(is_for_tests(attributes));
        self.test_depth += depth;
        visit(self);
        self.test_depth -= depth;
    }

    /// Visits the items inside an item whose name is part of their names.
    fn within(&mut self, owner: String, visit: impl FnOnce(&mut Self)) {
        self.owners.push(owner);
        visit(self);
        self.owners.pop();
    }
}

impl<'ast> Visit<'ast> for Scanner<'_> {
    fn visit_file(&mut self, node: &'ast syn::File) {
        self.inside(&node.attrs, |s| visit::visit_file(s, node));
    }

    fn visit_item(&mut self, node: &'ast syn::Item) {
        self.inside(item_attributes(node), |s| visit::visit_item(s, node));
    }

    fn visit_item_mod(&mut self, node: &'ast syn::ItemMod) {
        let outer = self.module;
        let child = self.child(node);
        match &node.content {
            Some((_, items)) => {
                self.module = child;
                items.iter().for_each(|item| self.visit_item(item));
                self.module = outer;
            }
            None => self.pending.push(child),
        }
    }

    fn visit_item_use(&mut self, node: &'ast syn::ItemUse) {
        self.add_use(&node.tree, &[], node.leading_colon.is_some());
    }

    fn visit_item_extern_crate(&mut self, node: &'ast syn::ItemExternCrate) {
        let line = node.ident.span().start().line;
        self.add_reference(vec![node.ident.to_string()], true, true, line);
    }

    fn visit_item_struct(&mut self, node: &'ast syn::ItemStruct) {
        if node.fields.len() > FIELDS_MAX {
            let line = node.ident.span().start().line;
            let name = node.ident.to_string();
            self.add_item(Measure::LargeStructs, line, &name, node.fields.len());
        }
        visit::visit_item_struct(self, node);
    }

    fn visit_item_trait(&mut self, node: &'ast syn::ItemTrait) {
        let methods = node.items.iter().filter(|i| matches!(i, syn::TraitItem::Fn(_))).count();
        let name = node.ident.to_string();
        if methods > METHODS_MAX {
            self.add_item(Measure::LargeTraits, node.ident.span().start().line, &name, methods);
        }
        self.within(name, |s| visit::visit_item_trait(s, node));
    }

    fn visit_item_impl(&mut self, node: &'ast syn::ItemImpl) {
        let name = match &*node.self_ty {
            syn::Type::Path(p) => p.path.segments.last().map(|s| s.ident.to_string()),
            _ => None,
        };
        self.within(name.unwrap_or_else(|| "_".to_owned()), |s| visit::visit_item_impl(s, node));
    }

    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        self.add_function(&node.sig, Some(&node.block));
        self.within(node.sig.ident.to_string(), |s| visit::visit_item_fn(s, node));
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        self.add_function(&node.sig, Some(&node.block));
        let name = node.sig.ident.to_string();
        self.inside(&node.attrs, |s| s.within(name, |s| visit::visit_impl_item_fn(s, node)));
    }

    fn visit_trait_item_fn(&mut self, node: &'ast syn::TraitItemFn) {
        self.add_function(&node.sig, node.default.as_ref());
        self.within(node.sig.ident.to_string(), |s| visit::visit_trait_item_fn(s, node));
    }

    fn visit_path(&mut self, node: &'ast syn::Path) {
        let is_absolute = node.leading_colon.is_some();
        if let Some(first) = node.segments.first()
            && (node.segments.len() > 1 || is_absolute)
        {
            let segments = node.segments.iter().map(|s| s.ident.to_string()).collect();
            self.add_reference(segments, is_absolute, false, first.ident.span().start().line);
        }
        visit::visit_path(self, node);
    }

    fn visit_macro(&mut self, node: &'ast syn::Macro) {
        self.visit_path(&node.path);
        self.add_tokens(node.tokens.clone());
    }

    /// `pub(super)` is not an import.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_attribute(&mut self, _: &'ast Attribute) {}
}

fn directory_of(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// A path relative to a directory, without `..` except at its beginning, which leaves the package.
fn joined(directory: &str, path: &str) -> String {
    let mut parts: Vec<&str> = directory.split('/').filter(|p| !p.is_empty()).collect();
    for part in path.split('/') {
        if part == ".." && parts.last().is_some_and(|p| *p != "..") {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

/// The value of `#[path = "…"]`.
fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|a| match &a.meta {
        Meta::NameValue(n) if n.path.is_ident("path") => match &n.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(s), .. }) => Some(s.value()),
            _ => None,
        },
        _ => None,
    })
}

/// Whether an item exists only in test builds.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|a| match &a.meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("cfg") => {
            list.parse_args::<Meta>().is_ok_and(|m| outside_tests(&m) == Some(false))
        }
        _ => false,
    })
}

/// The value of a condition of `cfg` in builds that are not for tests; `None` if it depends on
/// other conditions.
fn outside_tests(condition: &Meta) -> Option<bool> {
    let Meta::List(list) = condition else {
        return condition.path().is_ident("test").then_some(false);
    };
    let parser = syn::punctuated::Punctuated::<Meta, Token![,]>::parse_terminated;
    let values: Vec<Option<bool>> =
        list.parse_args_with(parser).ok()?.iter().map(outside_tests).collect();
    if list.path.is_ident("not") {
        values[0].map(|v| !v)
    } else {
        // `all` is false if one part is, `any` is true if one part is.
        let decisive = list.path.is_ident("any");
        if values.contains(&Some(decisive)) {
            Some(decisive)
        } else if values.contains(&None) {
            None
        } else {
            Some(!decisive)
        }
    }
}

fn item_attributes(item: &syn::Item) -> &[Attribute] {
    match item {
        syn::Item::Const(i) => &i.attrs,
        syn::Item::Enum(i) => &i.attrs,
        syn::Item::ExternCrate(i) => &i.attrs,
        syn::Item::Fn(i) => &i.attrs,
        syn::Item::ForeignMod(i) => &i.attrs,
        syn::Item::Impl(i) => &i.attrs,
        syn::Item::Macro(i) => &i.attrs,
        syn::Item::Mod(i) => &i.attrs,
        syn::Item::Static(i) => &i.attrs,
        syn::Item::Struct(i) => &i.attrs,
        syn::Item::Trait(i) => &i.attrs,
        syn::Item::TraitAlias(i) => &i.attrs,
        syn::Item::Type(i) => &i.attrs,
        syn::Item::Union(i) => &i.attrs,
        syn::Item::Use(i) => &i.attrs,
        _ => &[],
    }
}
