#!/bin/sh
# Formats the files that a tool wrote, with the formatter that the project uses for them.
# Gets the event as JSON; tells the model which files changed, so that it reads them again.

project=${HOOK_PROJECT_DIR:-$PWD}

written() {
    if command -v jq >/dev/null 2>&1; then
        jq -r '.files[]? | select(.access == "write").path'
    elif command -v python3 >/dev/null 2>&1; then
        python3 -I -c 'import json, sys
for file in json.load(sys.stdin).get("files", []):
    if file["access"] == "write": print(file["path"])'
    else
        echo "format-on-edit needs jq or python3" >&2
    fi
}

# Prints the nearest of some files, from the file's folder up to the project.
nearest() {
    folder=$(dirname "$file")
    while :; do
        for name in "$@"; do
            [ -f "$folder/$name" ] && printf '%s\n' "$folder/$name" && return
        done
        [ "$folder" = "$project" ] || [ "$folder" = / ] && return 1
        folder=$(dirname "$folder")
    done
}

has() { command -v "$1" >/dev/null 2>&1; }

# Prints a tool of the project's packages, or else one on PATH.
tool() {
    folder=$(dirname "$file")
    while :; do
        for packages in node_modules/.bin .venv/bin venv/bin; do
            [ -x "$folder/$packages/$1" ] && printf '%s\n' "$folder/$packages/$1" && return
        done
        [ "$folder" = "$project" ] || [ "$folder" = / ] && break
        folder=$(dirname "$folder")
    done
    command -v "$1"
}

web() {
    if nearest biome.json biome.jsonc >/dev/null && biome=$(tool biome); then
        "$biome" format --write "$file"
    elif nearest deno.json deno.jsonc >/dev/null && has deno; then
        deno fmt --quiet "$file"
    elif nearest .prettierrc .prettierrc.json .prettierrc.json5 .prettierrc.yaml .prettierrc.yml .prettierrc.toml \
        .prettierrc.js .prettierrc.cjs .prettierrc.mjs prettier.config.js prettier.config.cjs prettier.config.mjs \
        prettier.config.ts >/dev/null || grep -q '"prettier"' "$(nearest package.json || echo /dev/null)"; then
        prettier=$(tool prettier) && "$prettier" --log-level warn --ignore-unknown --write "$file"
    fi
}

python() {
    settings=$(nearest pyproject.toml || echo /dev/null)
    if { nearest ruff.toml .ruff.toml >/dev/null || grep -q '^\[tool\.ruff' "$settings"; } && ruff=$(tool ruff); then
        "$ruff" format --quiet "$file"
    elif grep -q '^\[tool\.black' "$settings" && black=$(tool black); then
        "$black" --quiet "$file"
    fi
}

rust() {
    manifest=$(nearest Cargo.toml) || return 0
    has rustfmt || return 0
    edition=$(sed -n 's/^edition *= *"\([0-9]*\)".*/\1/p' "$manifest" | head -n 1)
    # A member of a workspace may take the edition from it.
    if [ -z "$edition" ] && [ -f "$project/Cargo.toml" ]; then
        edition=$(sed -n 's/^edition *= *"\([0-9]*\)".*/\1/p' "$project/Cargo.toml" | head -n 1)
    fi
    rustfmt --edition "${edition:-2021}" "$file"
}

format() {
    case $file in
    */node_modules/* | */vendor/* | */target/* | */.git/*) ;;
    *.rs) rust ;;
    *.go) if has gofmt; then gofmt -w "$file"; fi ;;
    *.py | *.pyi) python ;;
    *.js | *.jsx | *.mjs | *.cjs | *.ts | *.tsx | *.mts | *.cts | *.json | *.jsonc | *.css | *.scss | *.less | *.html \
        | *.vue | *.svelte | *.md | *.mdx | *.yaml | *.yml | *.graphql) web ;;
    *.tf | *.tfvars) if has terraform; then terraform fmt "$file" >/dev/null; fi ;;
    *.c | *.h | *.cc | *.cpp | *.hpp | *.m | *.mm | *.proto)
        if nearest .clang-format _clang-format >/dev/null && has clang-format; then clang-format -i "$file"; fi ;;
    *.sh | *.bash) if nearest .editorconfig >/dev/null && has shfmt; then shfmt -w "$file"; fi ;;
    *.ex | *.exs) if nearest .formatter.exs >/dev/null && has mix; then (cd "$project" && mix format "$file"); fi ;;
    *.zig) if has zig; then zig fmt "$file" >/dev/null; fi ;;
    *.nix) if has nixfmt; then nixfmt "$file"; fi ;;
    esac
}

changed=$(written | while IFS= read -r file; do
    case $file in "$project"/*) ;; *) continue ;; esac
    [ -f "$file" ] && [ ! -L "$file" ] || continue
    before=$(cksum <"$file")
    format >&2 || echo "format-on-edit: $file was not formatted" >&2
    [ "$before" = "$(cksum <"$file")" ] || printf '%s\n' "${file#"$project"/}"
done | tr -d '\000-\011\013-\037"\134' | paste -s -d ' ' -)
[ -z "$changed" ] || printf '{"hookSpecificOutput": {"hookEventName": "AfterTool", "additionalContext": "%s"}}\n' \
    "formatted after the edit, read again before the next: $changed"
