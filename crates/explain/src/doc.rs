//! The tree of an explained statement and its four output formats.
//!
//! Counterpart: the output half of explain.c.

use std::fmt::Write;

/// The value of a property.
pub enum Value {
    Text(String),
    /// A number or boolean, written without quotes.
    Raw(String),
    List(Vec<String>),
    Lists(Vec<Vec<String>>),
    Object(Fields),
    Objects(Vec<Fields>),
}

/// Properties in output order.
pub type Fields = Vec<(String, Value)>;

/// A plan node as text (a title and lines) and as properties.
#[derive(Default)]
pub struct NodeView {
    pub title: String,
    pub lines: Vec<String>,
    pub fields: Fields,
    /// Children with an optional label (init plan, subplan or CTE).
    pub children: Vec<(Option<String>, NodeView)>,
}

impl NodeView {
    /// A property for all formats.
    pub fn text(&mut self, name: &str, value: impl Into<String>) {
        let value = value.into();
        self.lines.push(format!("{name}: {value}"));
        self.fields.push((name.to_owned(), Value::Text(value)));
    }

    /// Adds a number or boolean as a property for all formats.
    pub fn raw(&mut self, name: &str, value: impl ToString) {
        let value = value.to_string();
        self.lines.push(format!("{name}: {value}"));
        self.field(name, Value::Raw(value));
    }

    /// Adds a list of texts as a property for all formats.
    pub fn list(&mut self, name: &str, values: Vec<String>) {
        self.lines.push(format!("{name}: {}", values.join(", ")));
        self.field(name, Value::List(values));
    }

    /// A property for the structured formats only.
    pub fn field(&mut self, name: &str, value: Value) {
        self.fields.push((name.to_owned(), value));
    }

    /// Adds a number as a property for the structured formats only.
    pub fn number(&mut self, name: &str, value: impl ToString) {
        self.field(name, Value::Raw(value.to_string()));
    }

    /// Writes the node as lines of text at this indentation.
    pub fn write_text(&self, indent: usize, label: Option<&str>, out: &mut Vec<String>) {
        let mut indent = indent;
        if let Some(label) = label {
            out.push(format!("{}{label}", spaces(indent)));
            indent += 1;
        }
        let arrow = if indent > 0 { "->  " } else { "" };
        out.push(format!("{}{arrow}{}", spaces(indent), self.title));
        if indent > 0 {
            indent += 2;
        }
        indent += 1;
        for line in &self.lines {
            out.push(format!("{}{line}", spaces(indent)));
        }
        for (label, child) in &self.children {
            child.write_text(indent, label.as_deref(), out);
        }
    }

    /// The node as properties, children last.
    pub fn into_fields(self) -> Fields {
        let mut fields = self.fields;
        if !self.children.is_empty() {
            let plans = self.children.into_iter().map(|(_, c)| c.into_fields()).collect();
            fields.push(("Plans".to_owned(), Value::Objects(plans)));
        }
        fields
    }
}

fn spaces(indent: usize) -> String {
    " ".repeat(indent * 2)
}

/// The structured formats.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Markup {
    Json,
    Yaml,
    Xml,
}

/// A list of explained queries.
pub fn render(markup: Markup, queries: &[Value]) -> String {
    let mut w = Writer { out: String::new() };
    match markup {
        Markup::Json => w.json_queries(queries),
        Markup::Yaml => w.yaml_queries(queries),
        Markup::Xml => w.xml_queries(queries),
    }
    w.out
}

struct Writer {
    out: String,
}

impl Writer {
    fn line(&mut self, indent: usize) {
        self.out.push('\n');
        self.out.push_str(&spaces(indent));
    }

    fn json_queries(&mut self, queries: &[Value]) {
        self.out.push('[');
        for (i, q) in queries.iter().enumerate() {
            if i > 0 {
                self.out.push(',');
            }
            self.line(1);
            self.json(1, q);
        }
        self.out.push_str("\n]");
    }

    fn json(&mut self, indent: usize, value: &Value) {
        match value {
            Value::Text(t) => self.json_string(t),
            Value::Raw(t) => self.out.push_str(t),
            Value::List(list) => self.json_list(list),
            Value::Lists(lists) => self.json_array(indent, lists, |w, l| w.json_list(l)),
            Value::Objects(list) => {
                self.json_array(indent, list, |w, o| w.json_object(indent + 1, o))
            }
            Value::Object(fields) => self.json_object(indent, fields),
        }
    }

    fn json_array<T>(&mut self, indent: usize, items: &[T], mut one: impl FnMut(&mut Self, &T)) {
        self.out.push('[');
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.out.push(',');
            }
            self.line(indent + 1);
            one(self, item);
        }
        self.line(indent);
        self.out.push(']');
    }

    fn json_object(&mut self, indent: usize, fields: &Fields) {
        self.out.push('{');
        for (i, (name, value)) in fields.iter().enumerate() {
            if i > 0 {
                self.out.push(',');
            }
            self.line(indent + 1);
            self.json_string(name);
            self.out.push_str(": ");
            self.json(indent + 1, value);
        }
        self.line(indent);
        self.out.push('}');
    }

    fn json_list(&mut self, list: &[String]) {
        self.out.push('[');
        for (i, item) in list.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.json_string(item);
        }
        self.out.push(']');
    }

    fn json_string(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '\u{8}' => self.out.push_str("\\b"),
                '\u{c}' => self.out.push_str("\\f"),
                c if c < ' ' => {
                    let _ = write!(self.out, "\\u{:04x}", c as u32);
                }
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }

    fn yaml_queries(&mut self, queries: &[Value]) {
        for (i, q) in queries.iter().enumerate() {
            if i > 0 {
                self.out.push('\n');
            }
            self.out.push_str("- ");
            match q {
                Value::Object(fields) => self.yaml_object(1, fields),
                other => self.yaml(1, other),
            }
        }
    }

    /// Writes the properties of an object. The first one continues the current line.
    fn yaml_object(&mut self, indent: usize, fields: &Fields) {
        for (i, (name, value)) in fields.iter().enumerate() {
            if i > 0 {
                self.line(indent);
            }
            let _ = write!(self.out, "{name}: ");
            self.yaml(indent, value);
        }
    }

    fn yaml(&mut self, indent: usize, value: &Value) {
        match value {
            Value::Text(t) => self.json_string(t),
            Value::Raw(t) => self.out.push_str(t),
            Value::List(list) => {
                for item in list {
                    self.line(indent + 1);
                    self.out.push_str("- ");
                    self.json_string(item);
                }
            }
            Value::Lists(lists) => {
                for list in lists {
                    self.line(indent + 1);
                    self.out.push_str("- ");
                    self.json_list(list);
                }
            }
            Value::Object(fields) => {
                self.line(indent + 1);
                self.yaml_object(indent + 1, fields);
            }
            Value::Objects(list) => {
                for fields in list {
                    self.line(indent + 1);
                    self.out.push_str("- ");
                    self.yaml_object(indent + 2, fields);
                }
            }
        }
    }

    fn xml_queries(&mut self, queries: &[Value]) {
        self.out.push_str("<explain xmlns=\"http://www.postgresql.org/2009/explain\">");
        for q in queries {
            match q {
                Value::Object(fields) => self.xml_object(1, "Query", fields),
                Value::Text(t) => self.xml_leaf(1, "Query", t),
                _ => {}
            }
        }
        self.out.push_str("\n</explain>");
    }

    fn xml_leaf(&mut self, indent: usize, name: &str, text: &str) {
        self.line(indent);
        let _ = write!(self.out, "<{0}>{1}</{0}>", xml_name(name), xml_text(text));
    }

    fn xml_object(&mut self, indent: usize, name: &str, fields: &Fields) {
        self.xml_element(indent, name, |w| {
            fields.iter().for_each(|(n, v)| w.xml(indent + 1, n, v));
        });
    }

    fn xml_element(&mut self, indent: usize, name: &str, inside: impl FnOnce(&mut Self)) {
        self.line(indent);
        let _ = write!(self.out, "<{}>", xml_name(name));
        inside(self);
        self.line(indent);
        let _ = write!(self.out, "</{}>", xml_name(name));
    }

    fn xml(&mut self, indent: usize, name: &str, value: &Value) {
        // Elements of a list are named in the singular.
        let single = name.strip_suffix('s').unwrap_or(name);
        match value {
            Value::Text(t) | Value::Raw(t) => self.xml_leaf(indent, name, t),
            Value::List(list) => self.xml_element(indent, name, |w| {
                list.iter().for_each(|item| w.xml_leaf(indent + 1, "Item", item));
            }),
            Value::Lists(lists) => self.xml_element(indent, name, |w| {
                for list in lists {
                    w.xml_element(indent + 1, single, |w| {
                        list.iter().for_each(|item| w.xml_leaf(indent + 2, "Item", item));
                    });
                }
            }),
            Value::Object(fields) => self.xml_object(indent, name, fields),
            Value::Objects(list) => self.xml_element(indent, name, |w| {
                list.iter().for_each(|fields| w.xml_object(indent + 1, single, fields));
            }),
        }
    }
}

fn xml_name(name: &str) -> String {
    let valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.chars().map(|c| if valid(c) { c } else { '-' }).collect()
}

fn xml_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\r' => out.push_str("&#x0d;"),
            c => out.push(c),
        }
    }
    out
}
