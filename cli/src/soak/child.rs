//! A child of this program, which fails alone: watched to its end, with the reason why it failed.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::shared::stack::{name_other, OWN};

/// How often it is seen whether a child has ended.
const LOOK: Duration = Duration::from_millis(20);
/// What a line of a child says that tells why it failed.
const TELLING: [&str; 4] = ["zeronic: ", "rule broken: ", "WRONG", "NOT CONSERVED"];
/// What the first of the two lines of a panic says.
const PANICKED: &str = " panicked at ";

/// Runs a child to its end, with a call of `look` now and then. `Err` is the reason why it failed.
pub fn watch(
    command: &mut Command,
    limit: Duration,
    look: impl FnMut(),
) -> Result<std::result::Result<(), String>> {
    let (mut output, sink) = std::io::pipe().context("a pipe for a demo")?;
    command.stdin(Stdio::null()).stderr(sink.try_clone()?);
    let mut child = command.stdout(sink).spawn().context("a demo does not start")?;
    // The command holds this side's ends of the pipe, which would keep it open.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let reader = thread::spawn(move || {
        let mut text = Vec::new();
        output.read_to_end(&mut text).map(|_| text)
    });
    let status = end(&mut child, limit, look)?;
    let Ok(text) = reader.join() else {
        unreachable!("the reader does not panic");
    };
    let text = text.context("the output of a demo")?;
    Ok(match status {
        None => Err(format!("no end within {} s", limit.as_secs())),
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(reason(status, &String::from_utf8_lossy(&text))),
    })
}

/// How a child ended by itself; `None` if it had to be ended.
fn end(child: &mut Child, limit: Duration, mut look: impl FnMut()) -> Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() >= limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        look();
        thread::sleep(LOOK);
    }
}

/// The exit status, and what the child said about it.
fn reason(status: ExitStatus, text: &str) -> String {
    let mut parts = vec![status.to_string()];
    let mut lines = text.lines().map(|line| line.trim_matches([' ', '│']));
    while let Some(line) = lines.next() {
        if line.contains(PANICKED) {
            parts.extend([line, lines.next().unwrap_or_default()].map(str::to_owned));
        } else if TELLING.iter().any(|word| line.contains(word))
            && !line.ends_with(&name_other(OWN))
        {
            let words: Vec<&str> = line.split_whitespace().collect();
            parts.push(words.join(" "));
        }
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_watched(script: &str, limit: Duration) -> std::result::Result<(), String> {
        let mut command = Command::new("sh");
        watch(command.args(["-c", script]), limit, || ()).expect("a shell")
    }

    #[test]
    fn failures_have_a_reason() {
        let limit = Duration::from_secs(100);
        assert_eq!(run_watched("echo; echo x >&2", limit), Ok(()));
        assert_eq!(
            run_watched(
                "echo 'zeronic: no tap; using our own TCP instead' >&2
                 echo '│ frames  9, NOT CONSERVED │'
                 exit 1",
                limit
            ),
            Err("exit status: 1; frames 9, NOT CONSERVED".to_owned())
        );
        assert_eq!(
            run_watched(
                "echo \"thread 'main' panicked at a.rs:1:2:\" >&2; echo why >&2; exit 101",
                limit
            ),
            Err("exit status: 101; thread 'main' panicked at a.rs:1:2:; why".to_owned())
        );
        let killed = run_watched("kill -9 $$", limit).unwrap_err();
        assert!(killed.starts_with("signal: 9"), "{killed}");
        // `exec`, or the shell's child would go on and hold the pipe.
        let hung = run_watched("exec sleep 1000", Duration::from_secs(1));
        assert_eq!(hung, Err("no end within 1 s".to_owned()));
    }
}
