//! Input, output and binary form.

use crate::number::{is_zero, less};
use crate::parse::{self, Cursor};
use crate::shape::{self, Circle, Line, Path, Point, Polygon, Rect, Segment};
use pgerror::{Result, pg_err};
use values::datum::{Datum, DatumRef};
use values::float::float8_text;
use values::fn_context::FnContext;
use values::limits::TextBuffer;
use values::type_io::Reader;

fn point_in(text: &[u8]) -> Result<Datum> {
    let mut cursor = Cursor::new(text, "point");
    let point = cursor.point()?;
    cursor.end()?;
    Ok(point.datum())
}

/// Two points, as [`Cursor::points`] reads them.
fn two(text: &[u8], type_name: &'static str, brackets: bool) -> Result<Segment> {
    let mut cursor = Cursor::new(text, type_name);
    let (_, points) = cursor.points(2, brackets)?;
    cursor.end()?;
    let [a, b] = points[..] else { return Err(cursor.error()) };
    Ok(Segment(a, b))
}

/// The box whose corners are given in any order.
fn ordered(high: Point, low: Point) -> Rect {
    let mut out = Rect { high, low };
    if less(out.high.x, out.low.x) {
        std::mem::swap(&mut out.high.x, &mut out.low.x);
    }
    if less(out.high.y, out.low.y) {
        std::mem::swap(&mut out.high.y, &mut out.low.y);
    }
    out
}

fn box_in(text: &[u8]) -> Result<Datum> {
    let Segment(high, low) = two(text, "box", false)?;
    Ok(ordered(high, low).datum())
}

fn line_in(text: &[u8]) -> Result<Datum> {
    let mut cursor = Cursor::new(text, "line");
    cursor.skip_space();
    if cursor.take(b'{') {
        let a = cursor.number()?;
        cursor.expect(b',')?;
        let b = cursor.number()?;
        cursor.expect(b',')?;
        let c = cursor.number()?;
        cursor.expect(b'}')?;
        cursor.skip_space();
        cursor.end()?;
        if is_zero(a) && is_zero(b) {
            return Err(pg_err!(
                INVALID_TEXT_REPRESENTATION,
                "invalid line specification: A and B cannot both be zero"
            ));
        }
        return Ok(Line { a, b, c }.datum());
    }
    let segment = two(text, "line", true)?;
    if segment.0.equals(segment.1) {
        return Err(pg_err!(
            INVALID_TEXT_REPRESENTATION,
            "invalid line specification: must be two distinct points"
        ));
    }
    Ok(segment.line()?.datum())
}

fn path_in(text: &[u8]) -> Result<Datum> {
    let mut cursor = Cursor::new(text, "path");
    let Some(count) = parse::count(text) else { return Err(cursor.error()) };
    cursor.skip_space();
    // A single parenthesis encloses all points.
    let enclosed = cursor.peek() == b'(' && cursor.is_only_parenthesis();
    if enclosed {
        cursor.step();
    }
    shape::check_count(count)?;
    let (open, points) = cursor.points(count, true)?;
    if enclosed {
        cursor.expect(b')')?;
        cursor.skip_space();
    }
    cursor.end()?;
    Path { closed: !open, points }.datum()
}

fn poly_in(text: &[u8]) -> Result<Datum> {
    let mut cursor = Cursor::new(text, "polygon");
    let Some(count) = parse::count(text) else { return Err(cursor.error()) };
    shape::check_count(count)?;
    let (_, points) = cursor.points(count, false)?;
    cursor.end()?;
    Polygon::new(points).datum()
}

fn circle_in(text: &[u8]) -> Result<Datum> {
    let mut cursor = Cursor::new(text, "circle");
    cursor.skip_space();
    let mut depth = 0;
    let angle = cursor.take(b'<');
    if angle || (cursor.peek() == b'(' && cursor.enter_double()) {
        depth = 1;
    }
    let center = cursor.point()?;
    cursor.take(b',');
    let radius = cursor.number()?;
    if radius < 0.0 {
        return Err(cursor.error());
    }
    if depth == 1 {
        if !cursor.take(b')') && !cursor.take(b'>') {
            return Err(cursor.error());
        }
        depth = 0;
        cursor.skip_space();
    }
    debug_assert_eq!(depth, 0);
    cursor.end()?;
    Ok(Circle { center, radius }.datum())
}

fn text(cx: &dyn FnContext, n: f64) -> String {
    float8_text(n, cx.settings().extra_float_digits)
}

/// Points in parentheses, with commas between them.
fn points_text(cx: &dyn FnContext, points: &[Point], open: &str, close: &str) -> Result<Datum> {
    let mut out = TextBuffer::new();
    out.extend_from_slice(open.as_bytes());
    for (i, p) in points.iter().enumerate() {
        let comma = if i > 0 { "," } else { "" };
        let point = format!("{comma}({},{})", text(cx, p.x), text(cx, p.y));
        out.extend_from_slice(point.as_bytes());
        out.check()?;
    }
    out.extend_from_slice(close.as_bytes());
    out.into_datum()
}

fn path_out(cx: &dyn FnContext, d: DatumRef<'_>) -> Result<Datum> {
    let path = Path::of(d);
    let (open, close) = if path.closed { ("(", ")") } else { ("[", "]") };
    points_text(cx, &path.points, open, close)
}

fn line_out(cx: &dyn FnContext, d: DatumRef<'_>) -> Datum {
    let l = Line::of(d);
    Datum::text(&format!("{{{},{},{}}}", text(cx, l.a), text(cx, l.b), text(cx, l.c)))
}

fn circle_out(cx: &dyn FnContext, d: DatumRef<'_>) -> Datum {
    let c = Circle::of(d);
    let (x, y, radius) = (text(cx, c.center.x), text(cx, c.center.y), text(cx, c.radius));
    Datum::text(&format!("<({x},{y}),{radius}>"))
}

fn read_point(reader: &mut Reader<'_>) -> Result<Point> {
    Ok(Point::new(reader.f64()?, reader.f64()?))
}

fn point_recv(bytes: &[u8]) -> Result<Datum> {
    let mut reader = Reader::new(bytes);
    let point = read_point(&mut reader)?;
    reader.end()?;
    Ok(point.datum())
}

fn two_received(bytes: &[u8]) -> Result<Segment> {
    let mut reader = Reader::new(bytes);
    let segment = Segment(read_point(&mut reader)?, read_point(&mut reader)?);
    reader.end()?;
    Ok(segment)
}

fn line_recv(bytes: &[u8]) -> Result<Datum> {
    let mut reader = Reader::new(bytes);
    let line = Line { a: reader.f64()?, b: reader.f64()?, c: reader.f64()? };
    if is_zero(line.a) && is_zero(line.b) {
        return Err(pg_err!(
            INVALID_BINARY_REPRESENTATION,
            "invalid line specification: A and B cannot both be zero"
        ));
    }
    reader.end()?;
    Ok(line.datum())
}

fn circle_recv(bytes: &[u8]) -> Result<Datum> {
    let mut reader = Reader::new(bytes);
    let circle = Circle { center: read_point(&mut reader)?, radius: reader.f64()? };
    if circle.radius < 0.0 {
        return Err(pg_err!(
            INVALID_BINARY_REPRESENTATION,
            "invalid radius in external \"circle\" value"
        ));
    }
    reader.end()?;
    Ok(circle.datum())
}

/// A number of points and the points.
fn points_received(reader: &mut Reader<'_>, what: &str, header: i32) -> Result<Vec<Point>> {
    let count = reader.i32()?;
    if count <= 0 || count >= (i32::MAX - header) / 16 {
        return Err(pg_err!(
            INVALID_BINARY_REPRESENTATION,
            "invalid number of points in external \"{what}\" value"
        ));
    }
    let points = (0..count).map(|_| read_point(reader)).collect::<Result<Vec<Point>>>()?;
    reader.end()?;
    Ok(points)
}

fn path_recv(bytes: &[u8]) -> Result<Datum> {
    let mut reader = Reader::new(bytes);
    let closed = reader.byte()? != 0;
    let points = points_received(&mut reader, "path", 16)?;
    Path { closed, points }.datum()
}

fn poly_recv(bytes: &[u8]) -> Result<Datum> {
    let points = points_received(&mut Reader::new(bytes), "polygon", 40)?;
    Polygon::new(points).datum()
}

/// The doubles of a value in network order.
fn doubles_sent(d: DatumRef<'_>) -> Datum {
    let doubles = d.as_bytes().as_chunks::<8>().0;
    let swapped = doubles.iter().flat_map(|b| b.iter().rev().copied());
    Datum::bytes(swapped.collect::<Vec<u8>>())
}

fn points_sent(mut out: Vec<u8>, points: &[Point]) -> Datum {
    out.extend_from_slice(&(points.len() as u32).to_be_bytes());
    for p in points {
        out.extend_from_slice(&p.x.to_be_bytes());
        out.extend_from_slice(&p.y.to_be_bytes());
    }
    Datum::bytes(out)
}

fn path_send(d: DatumRef<'_>) -> Datum {
    let path = Path::of(d);
    points_sent(vec![u8::from(path.closed)], &path.points)
}

scalars! { FNS;
    "point_in" => |_, a| point_in(a[0].as_bytes()),
    "point_out" => |cx, a| points_text(cx, &[Point::of(a[0])], "", ""),
    "point_recv" => |_, a| point_recv(a[0].as_bytes()),
    "point_send" => |_, a| Ok(doubles_sent(a[0])),
    "lseg_in" => |_, a| Ok(two(a[0].as_bytes(), "lseg", true)?.datum()),
    "lseg_out" => |cx, a| {
        let Segment(p, q) = Segment::of(a[0]);
        points_text(cx, &[p, q], "[", "]")
    },
    "lseg_recv" => |_, a| Ok(two_received(a[0].as_bytes())?.datum()),
    "lseg_send" => |_, a| Ok(doubles_sent(a[0])),
    "line_in" => |_, a| line_in(a[0].as_bytes()),
    "line_out" => |cx, a| Ok(line_out(cx, a[0])),
    "line_recv" => |_, a| line_recv(a[0].as_bytes()),
    "line_send" => |_, a| Ok(doubles_sent(a[0])),
    "box_in" => |_, a| box_in(a[0].as_bytes()),
    "box_out" => |cx, a| {
        let Rect { high, low } = Rect::of(a[0]);
        points_text(cx, &[high, low], "", "")
    },
    "box_recv" => |_, a| {
        let Segment(high, low) = two_received(a[0].as_bytes())?;
        Ok(ordered(high, low).datum())
    },
    "box_send" => |_, a| Ok(doubles_sent(a[0])),
    "path_in" => |_, a| path_in(a[0].as_bytes()),
    "path_out" => |cx, a| path_out(cx, a[0]),
    "path_recv" => |_, a| path_recv(a[0].as_bytes()),
    "path_send" => |_, a| Ok(path_send(a[0])),
    "poly_in" => |_, a| poly_in(a[0].as_bytes()),
    "poly_out" => |cx, a| points_text(cx, &Polygon::of(a[0]).points, "(", ")"),
    "poly_recv" => |_, a| poly_recv(a[0].as_bytes()),
    "poly_send" => |_, a| Ok(points_sent(Vec::new(), &Polygon::of(a[0]).points)),
    "circle_in" => |_, a| circle_in(a[0].as_bytes()),
    "circle_out" => |cx, a| Ok(circle_out(cx, a[0])),
    "circle_recv" => |_, a| circle_recv(a[0].as_bytes()),
    "circle_send" => |_, a| Ok(doubles_sent(a[0])),
}
