//! Command-line options.

/// See [`HELP`].
pub struct Options {
    pub scale: u32,
    pub seconds: u32,
    pub rounds: u32,
    pub clients: Vec<u32>,
    pub modes: Vec<String>,
    pub scripts: Vec<String>,
    /// Settings of both servers, `name=value`.
    pub settings: Vec<String>,
}

const HELP: &str = "usage: bench/run [--scale N] [--seconds N] [--rounds N] [--clients 1,8,32] \
                    [--modes simple,extended,prepared] [--scripts \
                    select-only,simple-update,tpcb-like] [-c name=value]…";

impl Options {
    pub fn parse(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
        let list = |s: &str| s.split(',').map(str::to_string).collect::<Vec<_>>();
        let mut o = Options {
            scale: 10,
            seconds: 10,
            rounds: 3,
            clients: vec![1, 8, 32],
            modes: list("simple,extended,prepared"),
            scripts: list("select-only,simple-update,tpcb-like"),
            settings: [
                "shared_buffers=512MB",
                "max_connections=100",
                "max_wal_size=8GB",
                "checkpoint_timeout=30min",
                "autovacuum=off",
            ]
            .map(str::to_string)
            .to_vec(),
        };
        while let Some(a) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{a} needs a value\n{HELP}"));
            let number = |s: String| s.parse::<u32>().map_err(|_| format!("not a number: {s}"));
            match a.as_str() {
                "--scale" => o.scale = number(value()?)?,
                "--seconds" => o.seconds = number(value()?)?,
                "--rounds" => o.rounds = number(value()?)?,
                "--clients" => {
                    o.clients =
                        list(&value()?).into_iter().map(number).collect::<Result<_, _>>()?;
                }
                "--modes" => o.modes = list(&value()?),
                "--scripts" => o.scripts = list(&value()?),
                "-c" => o.settings.push(value()?),
                _ => return Err(HELP.to_string()),
            }
        }
        Ok(o)
    }
}
