# Refuses shell commands that delete without a way back: `rm -rf`, `Remove-Item -Recurse -Force`,
# `rd /s /q`, formatting a disk. Asks before a script from the network is run. Change it, or take it
# as a pattern for hooks of your own.
#
# How a hook works:
#   - It reads one JSON object from standard input: tool_name, tool_input, cwd, session_id and more.
#   - To let things go on it ends with exit 0 and prints nothing.
#   - To refuse it ends with exit 2. What it wrote to standard error is the reason, for the model.
#   - Or it prints JSON: {"decision": "deny", "reason": "..."}; "ask" asks the user.
#   - settings.json says which events and tools it is for. In a project, its hook has to be trusted
#     again after every change of this file: hook trust
#
# What is in variables, scripts or encoded text it cannot see. It stops mistakes, not a program that
# means to get around it.

$ErrorActionPreference = 'Stop'

function Refuse([string] $Why) {
    [Console]::Error.WriteLine("guard: $Why")
    exit 2
}

# The command of the tool call; where there is none of a known name, every value of the call.
try {
    $utf8 = [System.Text.UTF8Encoding]::new($false)
    $reader = [System.IO.StreamReader]::new([Console]::OpenStandardInput(), $utf8)
    $toolInput = ($reader.ReadToEnd() | ConvertFrom-Json).tool_input
    $parts = @(foreach ($name in 'command', 'cmd', 'script') {
        if ($null -ne $toolInput.$name) { $toolInput.$name }
    })
    if ($parts.Count -eq 0) {
        $parts = @(foreach ($property in $toolInput.PSObject.Properties) { $property.Value })
    }
    $command = $parts -join ' '
} catch {
    Refuse 'the tool call could not be read; nothing is run'
}

$rest = '[^;&|\r\n]*'
if ($command -match "\brm\b(?=$rest\s(-\w*r|--rec))(?=$rest\s(-\w*f|--fo))") {
    Refuse 'rm -rf deletes without a way back; name single files, or ask the user to do it'
}
if ($command -match "\b(remove-item|ri|rm|rd|rmdir|del|erase)\b(?=$rest\s(-r|/s))(?=$rest\s(-fo|/q|/f))") {
    Refuse 'this deletes without a way back; name single files, or ask the user to do it'
}
if ($command -match '\b(format-volume|clear-disk|mkfs(\.\w+)?)\b|\bformat(\.com)?\s+[a-z]:') {
    Refuse 'this would erase a disk; write to a file instead'
}
if ($command -match '\b(curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod)\b[^\r\n]*\|\s*(iex|invoke-expression|(ba|z)?sh)\b') {
    '{"decision": "ask", "reason": "guard: this runs a script from the network that nobody has read"}'
}
exit 0
