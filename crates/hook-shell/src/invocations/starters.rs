//! Programs that start other programs.

use super::{Argument, Input, Invocation};

/// Something that a program starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Started {
    /// A program with its arguments, perhaps behind assignments.
    Program(Vec<Argument>),
    /// A shell text.
    Text(String),
    /// A shell text with its arguments.
    TextWith(String, Vec<Argument>),
    /// The standard input, as a shell text.
    Input,
    /// A script file.
    File(Argument),
    /// Something that only running it can tell, with the reason.
    Unknown(String),
}

/// The position of what a program starts among its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The words behind so many operands.
    Words(usize),
    /// The words behind these subcommands and so many operands.
    Sub(&'static str, usize),
    /// The words behind so many operands, joined to a shell text.
    Joined(usize),
    /// Each operand is a shell text.
    Each,
    /// The values of these options, each a shell text.
    Options(&'static [&'static str]),
}

/// The table: program, options that take a value, form. A program may have several rows.
const STARTERS: &[(&str, &str, Form)] = &[
    ("apptainer", "-B --bind", Form::Sub("exec", 1)),
    ("asdf", "", Form::Sub("exec", 0)),
    ("ash", "-o -O", Form::Options(&[])),
    ("at", "-f -q -t", Form::Options(&[])),
    ("aws-vault", "-d --duration", Form::Sub("exec", 1)),
    ("bash", "-o -O --init-file --rcfile", Form::Options(&[])),
    ("builtin", "", Form::Words(0)),
    ("bundle", "", Form::Sub("exec", 0)),
    ("bunx", "-p --package", Form::Words(0)),
    ("busybox", "", Form::Words(0)),
    ("caffeinate", "-t -w", Form::Words(0)),
    ("cgexec", "-g", Form::Words(0)),
    ("chamber", "", Form::Sub("exec", 1)),
    ("choom", "-n -p", Form::Words(0)),
    ("chroot", "--userspec --groups", Form::Words(1)),
    ("chrt", "-T -P -D", Form::Words(1)),
    ("cmd", "", Form::Joined(0)),
    ("cmd.exe", "", Form::Joined(0)),
    ("command", "", Form::Words(0)),
    ("concurrently", "-n --names -c --prefix-colors -p --prefix -m --max-processes", Form::Each),
    ("conda", "-n --name -p --prefix --cwd", Form::Sub("run", 0)),
    ("corepack", "", Form::Words(0)),
    ("cross-env", "", Form::Words(0)),
    ("csh", "", Form::Options(&["-c"])),
    ("dash", "-o", Form::Options(&[])),
    ("dbus-run-session", "--config-file --dbus-daemon", Form::Words(0)),
    ("direnv", "", Form::Sub("exec", 1)),
    ("doas", "-u -C", Form::Words(0)),
    ("docker", DOCKER, Form::Sub("compose exec", 1)),
    ("docker", DOCKER, Form::Sub("compose run", 1)),
    ("docker", DOCKER, Form::Sub("container exec", 1)),
    ("docker", DOCKER, Form::Sub("exec", 1)),
    ("docker", DOCKER, Form::Sub("run", 1)),
    ("docker-compose", DOCKER, Form::Sub("exec", 1)),
    ("docker-compose", DOCKER, Form::Sub("run", 1)),
    ("doppler", "-p --project -c --config", Form::Sub("run", 0)),
    ("dotenv", "-e -f -v", Form::Words(0)),
    ("dotenv-cli", "-e -f -v", Form::Words(0)),
    ("dumb-init", "", Form::Words(0)),
    ("eatmydata", "", Form::Words(0)),
    ("entr", "", Form::Words(0)),
    ("env", "-u --unset -C --chdir -S --split-string -a --argv0", Form::Words(0)),
    ("eval", "", Form::Joined(0)),
    ("exec", "-a", Form::Words(0)),
    ("fakeroot", "-l -s -i -b --lib --faked", Form::Words(0)),
    ("firejail", "", Form::Words(0)),
    ("fish", "", Form::Options(&["-c", "--command", "-C", "--init-command"])),
    ("flock", "-w --timeout -E", Form::Words(1)),
    ("flock", "-w --timeout -E", Form::Options(&["-c", "--command"])),
    ("fly", "-a --app -c --config", Form::Options(&["-C", "--command"])),
    ("flyctl", "-a --app -c --config", Form::Options(&["-C", "--command"])),
    ("fnm", "--using", Form::Sub("exec", 0)),
    ("gcloud", "--project --zone --region --account", Form::Options(&["--command"])),
    ("gosu", "", Form::Words(1)),
    ("gtimeout", "-s -k --signal --kill-after", Form::Words(1)),
    ("hatch", "-e --env", Form::Sub("run", 0)),
    ("heroku", "-a --app -r --remote -s --size", Form::Sub("run", 0)),
    (
        "hyperfine",
        "-w --warmup -r --runs -m -M -L -P -s -p -c -i -n --shell --export-json",
        Form::Each,
    ),
    (
        "hyperfine",
        "-w --warmup -r --runs",
        Form::Options(&["-p", "--prepare", "-s", "--setup", "-c", "--cleanup"]),
    ),
    ("ionice", "-c -n -p -P -u --class --classdata", Form::Words(0)),
    ("ksh", "-o", Form::Options(&[])),
    ("kubectl", KUBECTL, Form::Sub("exec", 1)),
    ("linux32", "", Form::Words(0)),
    ("linux64", "", Form::Words(0)),
    ("lksh", "-o", Form::Options(&[])),
    ("ltrace", "-e -o -p -s -u -n -l -x -a -D -F", Form::Words(0)),
    ("mise", "", Form::Sub("exec", 0)),
    ("mise", "", Form::Sub("x", 0)),
    ("mksh", "-o", Form::Options(&[])),
    ("nice", "-n --adjustment", Form::Words(0)),
    ("nix", "", Form::Options(&["-c", "--command"])),
    ("nix", "", Form::Sub("run", 0)),
    ("nix-shell", "-p --packages", Form::Options(&["--run", "--command"])),
    ("nohup", "", Form::Words(0)),
    ("npm", "-p --package", Form::Sub("exec", 0)),
    ("npm", "-p --package", Form::Sub("x", 0)),
    ("npm", "-p --package", Form::Options(&["-c", "--call"])),
    ("npm-run-all", "", Form::Each),
    ("npx", "-p --package", Form::Words(0)),
    ("npx", "-p --package", Form::Options(&["-c", "--call"])),
    ("nsenter", "-t -S -G --target", Form::Words(0)),
    (
        "numactl",
        "-m -N -C -i -p -l --membind --cpunodebind --physcpubind --interleave",
        Form::Words(0),
    ),
    ("op", "--env-file --account", Form::Sub("run", 0)),
    ("parallel", "-j --jobs -a --arg-file -S --sshlogin --colsep -I -n -N", Form::Words(0)),
    ("pdm", "", Form::Sub("run", 0)),
    ("perf", "-e -o -F -p", Form::Sub("record", 0)),
    ("perf", "-e -o -F -p", Form::Sub("stat", 0)),
    ("pipenv", "", Form::Sub("run", 0)),
    ("pipx", "--spec --python", Form::Sub("run", 0)),
    ("pkexec", "--user", Form::Words(0)),
    ("pnpm", "-C --dir --filter -F", Form::Sub("dlx", 0)),
    ("pnpm", "-C --dir --filter -F", Form::Sub("exec", 0)),
    ("podman", DOCKER, Form::Sub("exec", 1)),
    ("podman", DOCKER, Form::Sub("run", 1)),
    ("poetry", "-C --directory -P --project", Form::Sub("run", 0)),
    ("posh", "-o", Form::Options(&[])),
    ("powershell", "", Form::Options(&["-Command", "-c", "-command"])),
    ("prlimit", "-p", Form::Words(0)),
    ("proxychains4", "-f", Form::Words(0)),
    ("pwsh", "", Form::Options(&["-Command", "-c", "-command"])),
    ("rbash", "-o -O", Form::Options(&[])),
    ("rtk", "", Form::Words(0)),
    ("runuser", "-u --user -g -G -s", Form::Options(&["-c", "--command"])),
    ("runuser", "-u --user -g -G -s -c --command", Form::Words(0)),
    ("rye", "", Form::Sub("run", 0)),
    ("s6-setuidgid", "", Form::Words(1)),
    ("screen", "-S -c -t -p -e", Form::Words(0)),
    ("script", "-E -I -O -o -T --log-out", Form::Options(&["-c", "--command"])),
    ("script", "-E -I -O -o -T --log-out -c --command", Form::Words(1)),
    ("setarch", "", Form::Words(0)),
    ("setpriv", "--reuid --regid --groups", Form::Words(0)),
    ("setsid", "", Form::Words(0)),
    ("setuidgid", "", Form::Words(1)),
    ("sg", "", Form::Options(&["-c"])),
    ("sg", "", Form::Words(1)),
    ("sh", "-o", Form::Options(&[])),
    ("singularity", "-B --bind", Form::Sub("exec", 1)),
    ("ssh", SSH, Form::Joined(1)),
    ("ssh-agent", "-a -E -t", Form::Words(0)),
    ("start-stop-daemon", "", Form::Options(&["--exec", "-x", "--startas", "-a"])),
    ("stdbuf", "-i -o -e --input --output --error", Form::Words(0)),
    ("strace", "-e -o -p -s -u -E -a -P -O -S -I -b -X", Form::Words(0)),
    ("su", "-s --shell -g -G -w", Form::Options(&["-c", "--command"])),
    ("su-exec", "", Form::Words(1)),
    (
        "sudo",
        "-u -g -h -p -C -D -R -T -U -r -t --user --group --host --prompt --chdir --chroot --command-timeout --close-from --other-user --role --type",
        Form::Words(0),
    ),
    ("systemd-inhibit", "--what --who --why --mode", Form::Words(0)),
    (
        "systemd-run",
        "-u --unit -p --property -E --setenv --uid --gid --slice -M -H -d",
        Form::Words(0),
    ),
    ("taskset", "", Form::Words(1)),
    ("tcsh", "", Form::Options(&["-c"])),
    ("time", "-f -o --format --output", Form::Words(0)),
    ("timeout", "-s -k --signal --kill-after", Form::Words(1)),
    ("tini", "", Form::Words(0)),
    ("torsocks", "-u -p -a", Form::Words(0)),
    ("toybox", "", Form::Words(0)),
    ("trap", "", Form::Options(&[])),
    ("unbuffer", "", Form::Words(0)),
    (
        "unshare",
        "-R --root -w --wd -S --setuid -G --setgid --map-user --map-group --map-users --map-groups --propagation",
        Form::Words(0),
    ),
    (
        "uv",
        "--with --python -p --env-file --directory --project --extra --group",
        Form::Sub("run", 0),
    ),
    ("uv", "--with --python -p --from", Form::Sub("tool run", 0)),
    ("uvx", "--with --python -p --from", Form::Words(0)),
    ("vagrant", "", Form::Options(&["-c", "--command"])),
    ("valgrind", "", Form::Words(0)),
    ("volta", "--node --npm --yarn", Form::Sub("run", 0)),
    ("wasmtime", "", Form::Sub("run", 1)),
    ("watch", "-n --interval -q --equexit", Form::Joined(0)),
    ("watchexec", "-w --watch -e --exts -f --filter -i --ignore -d --debounce", Form::Words(0)),
    ("wsl", "-d -u --distribution --user --cd", Form::Words(0)),
    ("xargs", XARGS, Form::Words(0)),
    ("xvfb-run", "-n -s -e -f -w", Form::Words(0)),
    ("yarn", "", Form::Sub("dlx", 0)),
    ("yarn", "", Form::Sub("exec", 0)),
    ("yash", "-o", Form::Options(&[])),
    ("zsh", "-o", Form::Options(&[])),
];

const DOCKER: &str = "-H --host --context --config -l --log-level -f --file -p --project-name --profile --env-file \
    -e --env -v --volume -w --workdir -u --user --name --network --net --mount --entrypoint -h --hostname --add-host \
    --label --platform --memory -m --cpus --restart --device --cap-add --cap-drop --security-opt --pid --ipc --userns \
    --tmpfs --ulimit --shm-size --gpus --publish --expose --dns --link --volumes-from --detach-keys --index --filter";
const KUBECTL: &str = "-n --namespace --context --kubeconfig -s --server --cluster --user --token -c --container \
    -o --output -l --selector -f --filename --as --as-group --request-timeout --field-selector --grace-period \
    --timeout --replicas";
const SSH: &str = "-i -p -o -l -L -R -D -F -J -b -c -E -e -I -m -O -Q -S -W -w -B";
const XARGS: &str = "-I -n -P -d -a -s -L -E --max-args --max-procs --delimiter --arg-file --max-chars \
    --process-slot-var";

/// Options with a value of programs that start nothing themselves, before and behind their subcommands.
const VALUE_OPTIONS: &[(&str, &str)] = &[
    ("ansible-playbook", "-i --inventory -e --extra-vars -l --limit -t --tags"),
    ("awk", "-v -F -f"),
    (
        "aws",
        "--profile --region --output --endpoint-url --query --cli-input-json --color --ca-bundle",
    ),
    ("az", "--subscription -o --output --query -g --resource-group -n --name"),
    ("bun", "-e --eval -p --print"),
    (
        "cargo",
        "--manifest-path -Z --config --color -p --package --target --target-dir --features -j --version",
    ),
    ("chmod", "--reference"),
    ("chown", "--reference --from"),
    (
        "curl",
        "-X --request -H --header -d --data --data-raw --data-binary --data-urlencode -o --output -u --user -A \
        --user-agent -e --referer -b --cookie -c --cookie-jar -F --form -T --upload-file -x --proxy -m --max-time \
        --connect-timeout --retry -w --write-out -K --config -D --dump-header --resolve -E --cert --key --cacert -r --range",
    ),
    ("cut", "-d -f -c -b --delimiter --fields"),
    ("fly", "-a --app -c --config -o --org -t --access-token"),
    ("flyctl", "-a --app -c --config -o --org -t --access-token"),
    ("gawk", "-v -F -f"),
    (
        "gcloud",
        "--project --account --configuration --format --region --zone --filter --impersonate-service-account",
    ),
    ("gh", "-R --repo --hostname"),
    ("git", "-C -c --git-dir --work-tree --namespace --config-env --attr-source --super-prefix"),
    ("glab", "-R --repo"),
    ("grep", "-A -B -C -m --max-count --include --exclude --exclude-dir -e -f --color"),
    ("head", "-n -c --lines --bytes"),
    (
        "helm",
        "-n --namespace --kube-context --kubeconfig --kube-token --version -f --values --set --timeout",
    ),
    ("helmfile", "-f --file -e --environment -n --namespace -l --selector"),
    ("heroku", "-a --app -r --remote"),
    ("install", "-m --mode -o -g -t --target-directory"),
    ("java", "-jar -cp -classpath"),
    ("jq", "--arg --argjson"),
    ("kill", "-s"),
    ("less", "-p"),
    ("lua", "-e"),
    ("mawk", "-v -F -f"),
    ("mkdir", "-m --mode"),
    ("mongosh", "-u -p --username --password --host --port --eval"),
    ("mysql", "-u -h -P -D -e --user --host --port --database --execute --socket -S"),
    ("mysqladmin", "-u -h -P --user --host --port --socket -S"),
    ("node", "-e --eval -p --print -r --require"),
    ("nodejs", "-e --eval -p --print -r --require"),
    ("npm", "--prefix -C -w --workspace --registry --tag --otp --userconfig"),
    ("openssl", "-in -out -inkey -passin -passout -name -CAfile -days -subj -newkey -keyout"),
    ("perl", "-e -E -I -M"),
    ("php", "-r -d -c"),
    ("pnpm", "-C --dir --filter -F --registry"),
    (
        "psql",
        "-h -p -U -d -c -f -v --host --port --username --dbname --command --file --set -o --output",
    ),
    ("pulumi", "-C --cwd -s --stack --color"),
    ("python", "-c -m -W -X"),
    ("python2", "-c -m -W -X"),
    ("python3", "-c -m -W -X"),
    ("redis-cli", "-h -p -a -n -u --user --pass"),
    ("rg", "-A -B -C -m -e -f -g --glob -t --type -T --type-not -j --max-count --max-depth"),
    ("rsync", "-e --rsh --exclude --include --filter -f --exclude-from --include-from --bwlimit"),
    ("ruby", "-e -I -r"),
    ("scp", "-i -P -F -o -l -c -J -S"),
    ("sed", "-e -f --expression --file -l"),
    ("split", "-l -b -n -a"),
    ("sqlite3", "-cmd -init -separator -nullvalue"),
    ("ssh-keygen", "-f -t -b -C -N -P"),
    ("systemctl", "-H --host -M --machine -t --type -n --lines -o --output --root"),
    ("tail", "-n -c --lines --bytes -s --pid"),
    (
        "tar",
        "-f --file -C --directory --exclude -X -T --files-from -I --use-compress-program --transform",
    ),
    ("terraform", "-var -var-file -target -state -lock-timeout"),
    ("touch", "-d -t -r --date --reference"),
    ("truncate", "-s --size -r --reference"),
    ("vault", "-address -namespace -token -format -field -mount"),
    (
        "wget",
        "-O --output-document -P --directory-prefix -o --output-file -U --user-agent --header --post-data \
        --post-file -e -T --timeout -t --tries",
    ),
    ("wrangler", "-c --config -e --env"),
    ("xxd", "-l -s -c"),
    ("yarn", "--cwd --registry"),
];

/// Returns the rows of a program.
fn rows(program: &str) -> &'static [(&'static str, &'static str, Form)] {
    let begin = STARTERS.partition_point(|(name, ..)| *name < program);
    let rows = STARTERS.get(begin..).unwrap_or_default();
    let count = rows.iter().take_while(|(name, ..)| *name == program).count();
    rows.get(..count).unwrap_or_default()
}

fn value_options(program: &str) -> Vec<&'static str> {
    let mut options = Vec::new();
    for (_, values, form) in rows(program) {
        options.extend(values.split_ascii_whitespace());
        if let Form::Options(names) = form {
            options.extend_from_slice(names);
        }
    }
    if let Ok(index) = VALUE_OPTIONS.binary_search_by(|(name, _)| (*name).cmp(program)) {
        options.extend(
            VALUE_OPTIONS
                .get(index)
                .into_iter()
                .flat_map(|(_, values)| values.split_ascii_whitespace()),
        );
    }
    options
}

/// Letters of short options with a value, by subcommand of git.
const GIT_LETTERS: &[(&str, &str)] = &[
    ("apply", "pC"),
    ("branch", "u"),
    ("checkout", "bB"),
    ("cherry-pick", "mXS"),
    ("clean", "e"),
    ("clone", "obcju"),
    ("commit", "mFCctSu"),
    ("grep", "eABCmO"),
    ("log", "nSGL"),
    ("merge", "msXFS"),
    ("push", "o"),
    ("rebase", "sxXCS"),
    ("revert", "mXS"),
    ("stash", "m"),
    ("switch", "cC"),
    ("tag", "mFu"),
    ("worktree", "bB"),
];

/// Returns the letters of a program's short options with a value: the rest of a cluster is theirs.
pub fn value_letters(program: &str, arguments: &[Argument]) -> String {
    if program == "git" {
        let command = operands(program, arguments).first().map(|command| command.text.clone());
        let letters = GIT_LETTERS.iter().find(|(name, _)| command.as_deref() == Some(*name));
        return letters.map(|(_, letters)| (*letters).to_owned()).unwrap_or_default();
    }
    let options = value_options(program);
    let short = options.iter().filter(|option| option.len() == 2);
    short.filter_map(|option| option.chars().nth(1)).collect()
}

/// Returns `true` if an argument is an option: for `-f` also a cluster (`-rf`) up to the first letter
/// with a value, for `--force` also an abbreviation and one with a value other than `false`.
pub fn is_option(argument: &str, option: &str, value_letters: &str) -> bool {
    if argument == option {
        return true;
    }
    if let Some(name) = option.strip_prefix("--") {
        let Some(given) = argument.strip_prefix("--") else { return false };
        if name.contains('=') {
            return false;
        }
        let (given, value) = given.split_once('=').unwrap_or((given, ""));
        return value != "false" && !given.is_empty() && name.starts_with(given);
    }
    let mut letters = option.strip_prefix('-').unwrap_or_default().chars();
    let (Some(letter), None, Some(cluster)) =
        (letters.next(), letters.next(), argument.strip_prefix('-'))
    else {
        return false;
    };
    let end = |found: &char| *found == letter || value_letters.contains(*found);
    let mut cluster = cluster.chars().take_while(char::is_ascii_alphanumeric);
    cluster.find(end) == Some(letter)
}

/// Returns the values of options, in `--name value`, `--name=value`, `-n value` and `-nvalue`.
pub fn option_values<'a>(arguments: &'a [Argument], options: &[impl AsRef<str>]) -> Vec<&'a str> {
    let mut values = Vec::new();
    for (index, argument) in arguments.iter().enumerate() {
        let text = argument.text.as_str();
        for option in options.iter().map(AsRef::as_ref) {
            let is_short = option.len() == 2;
            match text.strip_prefix(option) {
                Some("") => {
                    values.extend(arguments.get(index + 1).map(|value| value.text.as_str()))
                }
                Some(rest) if is_short => values.push(rest),
                Some(rest) => values.extend(rest.strip_prefix('=')),
                // The last letter of a cluster takes the value: `-sSLo file`.
                None if is_short
                    && !text.starts_with("--")
                    && is_option(text, option, "")
                    && text.ends_with(&option[1..]) =>
                {
                    values.extend(arguments.get(index + 1).map(|value| value.text.as_str()));
                }
                // `-sofolder/file`
                None if is_short && is_option(text, option, "") => {
                    let value = text.split_once(&option[1..]).map(|(_, value)| value);
                    values.extend(value.filter(|value| value.contains(['/', '.', '~'])));
                }
                None => {}
            }
        }
    }
    values
}

/// Returns `true` if an option's value is the next argument.
fn takes_next(argument: &str, options: &[&str]) -> bool {
    if let Some(name) = argument.strip_prefix("--") {
        return !name.contains('=')
            && options.iter().any(|option| {
                let option = option.strip_prefix("--").unwrap_or_default();
                option == name || name.len() >= 2 && option.starts_with(name)
            });
    }
    if options.contains(&argument) {
        return true;
    }
    // In a cluster the first letter with a value takes the rest as it, or the next argument.
    let letters = argument.get(1..).unwrap_or_default();
    let takes =
        |letter: char| options.iter().any(|option| option.len() == 2 && option.ends_with(letter));
    let first = letters.char_indices().find(|(_, letter)| takes(*letter));
    first.is_some_and(|(at, letter)| at + letter.len_utf8() == letters.len())
        && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Returns the arguments of a program that are neither options nor their values.
pub fn operands<'a>(program: &str, arguments: &'a [Argument]) -> Vec<&'a Argument> {
    operand_indices(program, arguments).iter().filter_map(|index| arguments.get(*index)).collect()
}

/// Returns the indices of [`operands`] among the arguments.
pub fn operand_indices(program: &str, arguments: &[Argument]) -> Vec<usize> {
    indices(program, arguments).0
}

/// Returns the indices of a program's options among the arguments.
pub fn option_indices(program: &str, arguments: &[Argument]) -> Vec<usize> {
    indices(program, arguments).1
}

/// Returns the indices of operands and of options; values of options are neither.
fn indices(program: &str, arguments: &[Argument]) -> (Vec<usize>, Vec<usize>) {
    let mut options = None;
    let (mut operands, mut found) = (Vec::new(), Vec::new());
    let mut rest = arguments.iter().enumerate();
    while let Some((index, argument)) = rest.next() {
        let text = argument.text.as_str();
        match text {
            "--" => {
                operands.extend(rest.map(|(index, _)| index));
                break;
            }
            // `chmod -x file`
            _ if program == "chmod"
                && text.len() > 1
                && text.bytes().skip(1).all(|byte| b"rwxXst".contains(&byte)) =>
            {
                operands.push(index);
            }
            _ if text.len() > 1 && text.starts_with('-') => {
                found.push(index);
                if takes_next(text, options.get_or_insert_with(|| value_options(program))) {
                    rest.next();
                }
            }
            _ => operands.push(index),
        }
    }
    (operands, found)
}

/// Returns the index of the word behind so many operands, which begin with the given ones.
fn index_behind(
    arguments: &[Argument],
    options: &[&str],
    first: &str,
    operands: usize,
) -> Option<usize> {
    let mut wanted = first.split_ascii_whitespace();
    let mut left = operands;
    let mut index = 0;
    while let Some(argument) = arguments.get(index) {
        let text = argument.text.as_str();
        if text == "--" {
            return (wanted.next().is_none()).then_some(index + 1 + left);
        }
        if text.starts_with('-') {
            index += 1 + usize::from(text.len() > 1 && takes_next(text, options));
            continue;
        }
        match wanted.next() {
            Some(word) if word == text => {}
            Some(_) => return None,
            None if left == 0 => return Some(index),
            // `env A=b program`: the assignments belong to the program.
            None => left -= 1,
        }
        index += 1;
    }
    None
}

/// Returns what an invocation starts.
pub(super) fn started(invocation: &Invocation) -> Vec<Started> {
    let program = invocation.program();
    let arguments = &invocation.arguments;
    let mut started = Vec::new();
    if program.starts_with("ld-linux") || program.starts_with("ld-musl") {
        started.push(Started::Program(arguments.clone()));
    }
    for (_, options, form) in rows(program) {
        let options: Vec<&str> = options.split_ascii_whitespace().collect();
        match form {
            Form::Words(operands) => {
                if let Some(index) = index_behind(arguments, &options, "", *operands) {
                    started.push(Started::Program(
                        arguments.get(index..).unwrap_or_default().to_vec(),
                    ));
                }
            }
            Form::Sub(first, operands) => {
                if let Some(index) = index_behind(arguments, &options, first, *operands) {
                    // Behind the names of containers and images, `--` may stand.
                    let separator =
                        arguments.iter().skip(index).position(|argument| argument.text == "--");
                    let index = separator.map_or(index, |at| index + at + 1);
                    started.push(Started::Program(
                        arguments.get(index..).unwrap_or_default().to_vec(),
                    ));
                }
            }
            Form::Joined(operands) => {
                if let Some(index) = index_behind(arguments, &options, "", *operands) {
                    let words = arguments.get(index..).unwrap_or_default();
                    let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
                    started.push(Started::Text(words.join(" ")));
                }
            }
            Form::Each => started.extend(
                operands(program, arguments)
                    .into_iter()
                    .map(|operand| Started::Text(operand.text.clone())),
            ),
            Form::Options(names) => {
                let texts = option_values(arguments, names);
                started.extend(texts.into_iter().map(|text| Started::Text(text.to_owned())));
            }
        }
    }
    // `command -v` and the like only look.
    if matches!(program, "command" | "builtin")
        && arguments
            .iter()
            .take_while(|argument| argument.text.starts_with('-'))
            .any(|argument| argument.text.contains(['v', 'V']))
    {
        started.clear();
    }
    for start in &mut started {
        match start {
            // `cmd /c program`
            Started::Text(text) if program.starts_with("cmd") => {
                let switch = text.trim_start().strip_prefix('/');
                if let Some(rest) = switch.and_then(|rest| rest.get(1..)) {
                    *text = rest.trim_start().to_owned();
                }
            }
            // `npx @scope/tool@1` starts `tool`.
            Started::Program(words)
                if matches!(program, "npx" | "bunx" | "uvx" | "pnpm" | "yarn" | "npm" | "pipx") =>
            {
                if let Some(word) = words.first_mut() {
                    word.text = package_program(&word.text).to_owned();
                }
            }
            Started::Program(words) if program == "nix" => {
                if let Some(word) = words.first_mut() {
                    word.text = word.text.rsplit(['#', '/']).next().unwrap_or_default().to_owned();
                }
            }
            _ => {}
        }
    }
    special(invocation, &mut started);
    started
}

/// Returns the program of a package, without its scope and version.
fn package_program(package: &str) -> &str {
    let name = match package.strip_prefix('@').and_then(|scoped| scoped.split_once('/')) {
        Some((_, name)) => name,
        None => package,
    };
    name.split('@').next().unwrap_or(name)
}

/// Programs whose rules do not fit in the table.
fn special(invocation: &Invocation, started: &mut Vec<Started>) {
    const SHELLS: [&str; 11] =
        ["sh", "bash", "dash", "zsh", "ksh", "ash", "rbash", "mksh", "lksh", "yash", "posh"];
    let program = invocation.program();
    let arguments = &invocation.arguments;
    let text_of = |index: usize| arguments.get(index).map(|argument| argument.text.as_str());
    for (name, value) in &invocation.variables {
        const PROGRAMS: [&str; 14] = [
            "BROWSER",
            "EDITOR",
            "GIT_ASKPASS",
            "GIT_EDITOR",
            "GIT_EXTERNAL_DIFF",
            "GIT_PAGER",
            "GIT_SEQUENCE_EDITOR",
            "GIT_SSH",
            "GIT_SSH_COMMAND",
            "MANPAGER",
            "PAGER",
            "PROMPT_COMMAND",
            "VISUAL",
            "LESSOPEN",
        ];
        if matches!(name.as_str(), "BASH_ENV" | "ENV") {
            let file = value.clone().unwrap_or_else(|| super::UNKNOWN.to_string());
            started.push(Started::File(Argument::plain(file)));
        }
        if PROGRAMS.contains(&name.as_str()) {
            started.extend(value.iter().map(|value| Started::Text(value.clone())));
        }
    }
    match program {
        _ if SHELLS.contains(&program) => started.extend(by_shell(arguments)),
        "python" | "python2" | "python3" | "perl" | "ruby" | "node" | "nodejs" | "php" | "lua"
        | "pypy3" => {
            let has_program = arguments.iter().any(|argument| {
                let letters = argument.text.strip_prefix('-').unwrap_or_default();
                letters.starts_with('-')
                    || letters.contains(['c', 'e', 'E', 'm', 'p', 'r', 'V', 'v', 'h'])
            });
            match operands(program, arguments).first() {
                Some(script) if script.text != "-" => {
                    started.push(Started::File((*script).clone()))
                }
                _ if has_program => {}
                // A known text is read as a program of its language.
                _ if matches!(invocation.input, Input::Unknown) => started.push(Started::Input),
                _ => {}
            }
        }
        "source" | "." => started.extend(arguments.first().map(script_file)),
        "at" | "batch" | "crontab" if !matches!(invocation.input, Input::Inherited) => {
            started.push(Started::Input)
        }
        "trap" => started.extend(
            text_of(usize::from(text_of(0) == Some("--")))
                .filter(|text| !text.starts_with('-'))
                .map(|text| Started::Text(text.to_owned())),
        ),
        "find" => {
            let mut at = 0;
            while let Some(index) = arguments.iter().skip(at).position(|argument| {
                matches!(argument.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir")
            }) {
                let words = arguments.iter().skip(at + index + 1);
                let mut before = "";
                let words: Vec<Argument> = words
                    .take_while(|word| {
                        // `+` ends it behind `{}` alone.
                        let is_end = word.text == ";" || word.text == "+" && before == "{}";
                        before = word.text.as_str();
                        !is_end
                    })
                    .cloned()
                    .collect();
                at += index + 1 + words.len();
                for path in found_paths(arguments) {
                    started.push(Started::Program(found(&words, &path)));
                }
            }
        }
        "fd" | "fdfind" => {
            let index = arguments.iter().position(|argument| {
                matches!(argument.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch")
            });
            if let Some(index) = index {
                let words = arguments.get(index + 1..).unwrap_or_default().to_vec();
                started.push(Started::Program(found(&words, &format!("./{}", super::UNKNOWN))));
            }
        }
        "sed" => {
            let scripts = super::files::scripts_of_sed(arguments);
            let runs = |script: &&str| {
                super::files::sed_effects(script).contains(&super::files::SedEffect::Runs)
            };
            if scripts.iter().any(runs) {
                started.push(Started::Unknown("`sed` runs what is in a text".to_owned()));
            }
        }
        "env" => started.extend(split_string(arguments)),
        "cmake" if text_of(0) == Some("-E") => {
            let mut words = arguments.get(1..).unwrap_or_default().to_vec();
            if let Some(word) = words.first_mut() {
                let program = match word.text.as_str() {
                    "copy" | "copy_directory" | "copy_if_different" => "cp",
                    "create_symlink" | "create_hardlink" => "ln",
                    "make_directory" => "mkdir",
                    "remove" => "rm",
                    "remove_directory" => "rmdir",
                    "rename" => "mv",
                    other => other,
                };
                word.text = program.to_owned();
            }
            started.push(Started::Program(words));
        }
        "rimraf" | "del-cli" | "del" | "rclone" | "gio" => {
            let operands = operands(program, arguments);
            let is_removal = operands.first().is_some_and(|action| match program {
                "rclone" => matches!(
                    action.text.as_str(),
                    "purge" | "delete" | "deletefile" | "rmdir" | "rmdirs" | "move" | "moveto"
                ),
                "gio" => matches!(action.text.as_str(), "trash" | "remove"),
                _ => true,
            });
            let skipped = usize::from(matches!(program, "rclone" | "gio"));
            if is_removal {
                let words = ["rm", "-rf"].map(Argument::plain).into_iter();
                let removed = operands.into_iter().skip(skipped).cloned();
                started.push(Started::Program(words.chain(removed).collect()));
            }
        }
        "bwrap" => {
            // Its options have one or two values, which are no programs.
            let operands = operand_indices(program, arguments);
            let words = operands.iter().take(16).filter_map(|index| arguments.get(*index..));
            started.extend(words.map(|words| Started::Program(words.to_vec())));
        }
        "expect" if !option_values(arguments, &["-c"]).is_empty() => {
            started.push(Started::Unknown("`expect` runs a program of its own".to_owned()));
        }
        "gdb" | "lldb" => {
            for text in option_values(arguments, &["-ex", "--eval-command", "-iex", "-o"]) {
                let words = text.trim_start().trim_start_matches('!');
                match words.split_once(' ') {
                    Some(("shell" | "platform", text)) => {
                        started.push(Started::Text(text.trim_start_matches("shell ").to_owned()));
                    }
                    Some(("python" | "script" | "source" | "pipe" | "run", _)) => {
                        started.push(Started::Unknown(format!("`{program}` runs a program")));
                    }
                    _ if text.trim_start().starts_with('!') => {
                        started.push(Started::Text(words.to_owned()));
                    }
                    _ => {}
                }
            }
        }
        "sqlite3" => {
            let commands = option_values(arguments, &["-cmd"]);
            let operands = operands(program, arguments);
            let texts = operands.iter().map(|operand| operand.text.as_str()).chain(commands);
            let input = match &invocation.input {
                Input::Text(text) => text.as_str(),
                _ => "",
            };
            for line in texts.flat_map(str::lines).chain(input.lines()) {
                let text = line.trim_start();
                let text = text.strip_prefix(".shell ").or_else(|| text.strip_prefix(".system "));
                started.extend(text.map(|text| Started::Text(text.to_owned())));
            }
        }
        "make" | "gmake"
            if option_values(arguments, &["-f"])
                .iter()
                .any(|file| matches!(*file, "-" | "/dev/stdin")) =>
        {
            started.push(Started::Unknown("`make` reads what it does from its input".to_owned()));
        }
        "make" | "gmake"
            if arguments.iter().any(|argument| argument.text.starts_with("--eval"))
                || arguments.iter().any(|argument| argument.text.contains("$(shell"))
                || arguments.iter().any(|argument| argument.text.starts_with("-E")) =>
        {
            started.push(Started::Unknown("`make` runs a text".to_owned()));
        }
        "hash" | "enable"
            if arguments.iter().any(|argument| matches!(argument.text.as_str(), "-p" | "-f")) =>
        {
            started.push(Started::Unknown("a name becomes that of another program".to_owned()));
        }
        "mapfile" | "readarray" | "compgen" => {
            let texts = option_values(arguments, &["-C"]);
            started.extend(texts.into_iter().map(|text| Started::Text(text.to_owned())));
        }
        "xargs" => {
            let words = started.iter().position(|it| matches!(it, Started::Program(_)));
            if let Some(Started::Program(words)) = words.map(|index| started.remove(index)) {
                started.extend(by_xargs(arguments, words, &invocation.input));
            }
        }
        "parallel" => by_parallel(arguments, &invocation.input, started),
        "git" => git(arguments, started),
        "tar" => {
            for argument in arguments {
                let text = argument.text.strip_prefix("--checkpoint-action=exec=");
                let text = text.or_else(|| argument.text.strip_prefix("--to-command="));
                let text = text.or_else(|| argument.text.strip_prefix("--use-compress-program="));
                started.extend(text.map(|text| Started::Text(text.to_owned())));
            }
            let programs = option_values(arguments, &["-I", "--checkpoint-action", "--to-command"]);
            started.extend(
                programs.into_iter().map(|text| {
                    Started::Text(text.strip_prefix("exec=").unwrap_or(text).to_owned())
                }),
            );
        }
        "rsync" => {
            let shells = option_values(arguments, &["-e", "--rsh"]);
            started.extend(shells.into_iter().map(|text| Started::Text(text.to_owned())));
        }
        "tmux" => started.extend(
            operands(program, arguments)
                .iter()
                .skip(1)
                .map(|operand| Started::Text(operand.text.clone())),
        ),
        "ssh" | "scp" | "sftp" => {
            for option in option_values(arguments, &["-o"]) {
                let text = option.split_once(['=', ' ']).filter(|(name, _)| {
                    name.eq_ignore_ascii_case("ProxyCommand")
                        || name.eq_ignore_ascii_case("LocalCommand")
                });
                started.extend(text.map(|(_, text)| Started::Text(text.to_owned())));
            }
        }
        "vim" | "nvim" | "vi" | "ex" => {
            for command in option_values(arguments, &["-c", "--cmd"]) {
                let text = command.trim_start_matches(':').strip_prefix('!');
                started.extend(text.map(|text| Started::Text(text.to_owned())));
                if command.contains("system") {
                    started.push(Started::Unknown(format!("`{program}` runs a program")));
                }
            }
            for argument in arguments {
                started.extend(
                    argument.text.strip_prefix("+!").map(|text| Started::Text(text.to_owned())),
                );
            }
        }
        "osascript" => {
            for script in option_values(arguments, &["-e"]) {
                let text = script
                    .split_once("do shell script")
                    .map(|(_, text)| text.trim().trim_matches('"'));
                started.extend(text.map(|text| Started::Text(text.to_owned())));
            }
        }
        _ => {}
    }
}

/// Returns the text of `env -S`, with the words behind it.
fn split_string(arguments: &[Argument]) -> Option<Started> {
    let texts = option_values(arguments, &["-S", "--split-string"]);
    let text = texts.first()?;
    let at = arguments.iter().position(|argument| argument.text.ends_with(text))?;
    let rest = arguments.iter().skip(at + 1).map(|argument| crate::quote(&argument.text));
    let words: Vec<String> = std::iter::once((*text).to_owned()).chain(rest).collect();
    Some(Started::Text(words.join(" ")))
}

/// The maximum number of inputs of `xargs` and `parallel` that are read.
const MAX_INPUTS: usize = 64;

/// Returns what `xargs` starts: what it reads becomes arguments.
fn by_xargs(arguments: &[Argument], words: Vec<Argument>, input: &Input) -> Vec<Started> {
    let text = match input {
        Input::Text(text) if text.len() < 4_000 => text.as_str(),
        _ => "\u{fffc}",
    };
    let is_set = |name: &str| arguments.iter().any(|it| is_option(&it.text, name, "InPdasLE"));
    let delimiters = option_values(arguments, &["-d", "--delimiter"]);
    let delimiter = match delimiters.first() {
        Some(&"\\n") => Some('\n'),
        Some(&"\\0") => Some('\0'),
        Some(delimiter) => delimiter.chars().next(),
        None if is_set("-0") || is_set("--null") => Some('\0'),
        None => None,
    };
    let marks = option_values(arguments, &["-I", "--replace", "-i"]);
    let mark = marks.first().copied().or_else(|| is_set("-i").then_some("{}"));
    let plain = |text: &str| text.replace(['"', '\'', '\\'], "");
    let inputs: Vec<String> = match (delimiter, mark) {
        (Some(delimiter), _) => text.split(delimiter).map(str::to_owned).collect(),
        (None, Some(_)) => text.lines().map(|line| plain(line.trim_start())).collect(),
        (None, None) => text.split_whitespace().map(plain).collect(),
    };
    let Some(mark) = mark else {
        let added = inputs.into_iter().filter(|input| !input.is_empty()).map(Argument::plain);
        return vec![Started::Program(words.into_iter().chain(added).collect())];
    };
    if inputs.len() > MAX_INPUTS {
        return vec![Started::Unknown("`xargs` starts too many programs".to_owned())];
    }
    let replaced = |input: &String| {
        let word = |word: &Argument| Argument { text: word.text.replace(mark, input), ..*word };
        Started::Program(words.iter().map(word).collect())
    };
    inputs.iter().filter(|input| !input.is_empty()).map(replaced).collect()
}

/// Adds what `parallel` starts: its words and each of its inputs make a shell text.
fn by_parallel(arguments: &[Argument], input: &Input, started: &mut Vec<Started>) {
    let words = started.iter().position(|it| matches!(it, Started::Program(_)));
    let Some(Started::Program(words)) = words.map(|index| started.remove(index)) else {
        // Without words, each line is a text.
        if !matches!(input, Input::Inherited) && !arguments.iter().any(|it| it.text == ":::") {
            started.push(Started::Input);
        }
        return;
    };
    let is_mark = |word: &Argument| word.text.starts_with(":::");
    let begin = words.iter().position(is_mark);
    let command: Vec<&str> =
        words.iter().take(begin.unwrap_or(words.len())).map(|word| word.text.as_str()).collect();
    let command = command.join(" ");
    let inputs: Vec<&str> = match (begin.and_then(|at| words.get(at)), input) {
        (Some(mark), _) if mark.text.starts_with("::::") => vec!["\u{fffc}"],
        (Some(_), _) => {
            let inputs = words.iter().skip_while(|word| !is_mark(word));
            inputs.filter(|word| !is_mark(word)).map(|word| word.text.as_str()).collect()
        }
        (None, Input::Text(text)) => text.lines().collect(),
        (None, _) => vec!["\u{fffc}"],
    };
    if inputs.len() > MAX_INPUTS {
        started.push(Started::Unknown("`parallel` starts too many programs".to_owned()));
    }
    started.extend(inputs.into_iter().take(MAX_INPUTS).map(|input| {
        Started::Text(match command.contains('{') {
            true => command.replace("{}", input),
            false => format!("{command} {input}").trim_start().to_owned(),
        })
    }));
}

/// Returns a script file; the names of descriptors are those of what they stand for.
fn script_file(script: &Argument) -> Started {
    let path = match script.text.starts_with('/') {
        true => super::join(None, &script.text).unwrap_or_else(|| script.text.clone()),
        false => return Started::File(script.clone()),
    };
    let is_of_process = path.starts_with("/dev/fd/")
        || path.strip_prefix("/proc/").is_some_and(|rest| rest.contains("/fd/"));
    match path.rsplit('/').next() {
        Some("0") if is_of_process => Started::Input,
        _ if path == "/dev/stdin" => Started::Input,
        Some("63") if is_of_process => Started::File(script.clone()),
        _ if is_of_process => Started::Unknown("a shell runs what it reads".to_owned()),
        _ => Started::File(script.clone()),
    }
}

/// Returns what a shell starts: the text behind `-c` and other options, a script, or its input.
fn by_shell(arguments: &[Argument]) -> Option<Started> {
    let (mut has_text, mut reads_input) = (false, false);
    let mut rest = arguments.iter();
    let mut operand = None;
    while let Some(argument) = rest.next() {
        let text = argument.text.as_str();
        match text {
            "--" | "-" => {
                operand = rest.next();
                break;
            }
            "--rcfile" | "--init-file" => {
                if rest.next().is_some_and(|file| file.text.starts_with("/dev/")) {
                    return Some(Started::Input);
                }
            }
            _ if text.starts_with("--") => {}
            _ if text.starts_with(['-', '+']) && text.len() > 1 => {
                has_text |= text.starts_with('-') && text.contains('c');
                reads_input |= text.starts_with('-') && text.contains('s');
                if text.ends_with(['o', 'O']) {
                    rest.next();
                }
            }
            _ => {
                operand = Some(argument);
                break;
            }
        }
    }
    let asks = |argument: &Argument| matches!(argument.text.as_str(), "--help" | "--version");
    match operand {
        Some(text) if has_text => {
            Some(Started::TextWith(text.text.clone(), rest.skip(1).cloned().collect()))
        }
        Some(script) if !reads_input => Some(script_file(script)),
        _ if has_text || arguments.iter().any(asks) => None,
        _ => Some(Started::Input),
    }
}

/// Replaces what stands for a found file.
fn found(words: &[Argument], path: &str) -> Vec<Argument> {
    let word = |word: &Argument| Argument { text: word.text.replace("{}", path), ..*word };
    words.iter().map(word).collect()
}

/// Returns `true` for options of `find` before its folders.
pub(super) fn is_find_option(argument: &str) -> bool {
    matches!(argument, "-L" | "-H" | "-P")
        || argument.starts_with("-O")
        || argument.starts_with("-D")
}

/// Returns the paths that `find` may find: in each folder, those of its `-name`s.
pub(super) fn found_paths(arguments: &[Argument]) -> Vec<String> {
    let mut roots: Vec<&str> = arguments
        .iter()
        .map(|argument| argument.text.as_str())
        .skip_while(|text| is_find_option(text))
        .take_while(|text| !text.starts_with(['-', '(', '!']))
        .collect();
    if roots.is_empty() {
        roots.push(".");
    }
    let mut names = option_values(arguments, &["-name", "-iname"]);
    if names.is_empty() {
        names.push("\u{fffc}");
    }
    let path = |root: &str, name: &str| match root.ends_with('/') {
        true => format!("{root}{name}"),
        false => format!("{root}/{name}"),
    };
    roots
        .iter()
        .take(8)
        .flat_map(|root| names.iter().take(8).map(move |name| path(root, name)))
        .collect()
}

/// Returns `true` if a setting of git holds a program.
fn is_program_setting(name: &str) -> bool {
    const PROGRAMS: [&str; 16] = [
        "core.alternaterefscommand",
        "core.askpass",
        "core.editor",
        "core.fsmonitor",
        "core.gitproxy",
        "core.pager",
        "core.sshcommand",
        "credential.helper",
        "diff.external",
        "gpg.program",
        "interactive.difffilter",
        "sequence.editor",
        "ssh.program",
        "uploadpack.packobjectshook",
        "web.browser",
        "sendemail.tocmd",
    ];
    /// The ends of settings with a name in between, by their section.
    const NAMED: [(&str, &[&str]); 11] = [
        ("browser.", &[".cmd", ".path"]),
        ("credential.", &[".helper"]),
        ("diff.", &[".command", ".textconv"]),
        ("difftool.", &[".cmd", ".path"]),
        ("filter.", &[".clean", ".smudge", ".process"]),
        ("gpg.", &[".program", ".defaultkeycommand"]),
        ("man.", &[".cmd", ".path"]),
        ("merge.", &[".driver"]),
        ("mergetool.", &[".cmd", ".path"]),
        ("remote.", &[".uploadpack", ".receivepack", ".vcs"]),
        ("trailer.", &[".command", ".cmd"]),
    ];
    let is_named = |(section, ends): &(&str, &[&str])| {
        name.starts_with(section) && ends.iter().any(|end| name.ends_with(end))
    };
    PROGRAMS.contains(&name) || name.starts_with("pager.") || NAMED.iter().any(is_named)
}

fn git(arguments: &[Argument], started: &mut Vec<Started>) {
    // Settings that hold programs; an alias is a command of git, or with `!` a shell text.
    let of_setting = |name: &str, value: &str| {
        let name = name.to_ascii_lowercase();
        let is_alias = name.starts_with("alias.");
        match value.strip_prefix('!') {
            Some(text) if is_alias => Some(Started::Text(text.to_owned())),
            None if is_alias => Some(Started::Text(format!("git {value}"))),
            text if is_program_setting(&name) => {
                Some(Started::Text(text.unwrap_or(value).to_owned()))
            }
            _ => None,
        }
    };
    for setting in option_values(arguments, &["-c"]) {
        started.extend(setting.split_once('=').and_then(|(name, value)| of_setting(name, value)));
    }
    let operands = operands("git", arguments);
    // `ext::` in front of a repository's address runs a program, in whose words `% ` is a blank.
    let remotes = operands.iter().filter_map(|operand| operand.text.strip_prefix("ext::"));
    started.extend(remotes.map(|text| {
        let text = text.replace("% ", "\0");
        let words = text.split(' ').map(|word| Argument::plain(word.replace('\0', " ")));
        Started::Program(words.collect())
    }));
    let texts: Vec<&str> = operands.iter().map(|operand| operand.text.as_str()).collect();
    match texts.as_slice() {
        ["config", "set", name, value, ..] | ["config", name, value, ..] => {
            started.extend(of_setting(name, value))
        }
        ["bisect", "run", ..] => {
            let words = operands.iter().skip(2).map(|operand| (*operand).clone()).collect();
            started.push(Started::Program(words));
        }
        ["clone" | "fetch" | "pull" | "push" | "ls-remote" | "fetch-pack" | "send-pack", ..] => {
            const PROGRAMS: [&str; 3] = ["--upload-pack", "--receive-pack", "--exec"];
            let mut texts = option_values(arguments, &PROGRAMS);
            if texts.is_empty() && operands.first().is_some_and(|first| first.text == "clone") {
                texts = option_values(arguments, &["-u"]);
            }
            started.extend(texts.into_iter().map(|text| Started::Text(text.to_owned())));
        }
        ["difftool", ..] => {
            let texts = option_values(arguments, &["-x", "--extcmd"]);
            started.extend(texts.into_iter().map(|text| Started::Text(text.to_owned())));
        }
        ["grep", ..] => {
            let texts = arguments.iter().filter_map(|argument| {
                let text = argument.text.strip_prefix("-O");
                text.or_else(|| argument.text.strip_prefix("--open-files-in-pager="))
            });
            let texts = texts.filter(|text| !text.is_empty());
            started.extend(texts.map(|text| Started::Text(text.to_owned())));
        }
        ["submodule", "foreach", rest @ ..] => started.push(Started::Text(rest.join(" "))),
        ["rebase", ..] => {
            let texts = option_values(arguments, &["-x", "--exec"]);
            started.extend(texts.into_iter().map(|text| Started::Text(text.to_owned())));
        }
        ["filter-branch", ..] => {
            const FILTERS: [&str; 7] = [
                "--env-filter",
                "--tree-filter",
                "--index-filter",
                "--parent-filter",
                "--msg-filter",
                "--commit-filter",
                "--tag-name-filter",
            ];
            let texts = option_values(arguments, &FILTERS);
            started.extend(texts.into_iter().map(|text| Started::Text(text.to_owned())));
        }
        _ => {}
    }
}

#[cfg(test)]
pub(super) fn is_sorted() -> bool {
    STARTERS.is_sorted_by_key(|(name, ..)| *name)
        && VALUE_OPTIONS.is_sorted_by_key(|(name, _)| *name)
}
