# Installs the command `hook` @VERSION@ for the calling user: no administrator, and no file but the command.
#
#   irm @URL@/install.ps1 | iex
#
#   $env:HOOK_INSTALL_DIR    the folder of the command; %LOCALAPPDATA%\Programs\hook-engine by default
#   $env:HOOK_DOWNLOAD_URL   a mirror of the release's files
#
# The archive must have the sum that stands below.

& {
  Set-StrictMode -Version 3
  $ErrorActionPreference = 'Stop'
  $ProgressPreference = 'SilentlyContinue'

  $target = 'x86_64-pc-windows-gnu'
  $sum = '@WINDOWS_SUM@'
  $url = if ($env:HOOK_DOWNLOAD_URL) { $env:HOOK_DOWNLOAD_URL.TrimEnd('/') } else { '@URL@' }
  $folder = if ($env:HOOK_INSTALL_DIR) { $env:HOOK_INSTALL_DIR } else { Join-Path $env:LOCALAPPDATA 'Programs\hook-engine' }

  if (-not [Environment]::Is64BitOperatingSystem) { throw 'install.ps1: this release has no binary for 32-bit Windows' }
  $place = Join-Path $folder 'hook.exe'
  $temporary = Join-Path ([IO.Path]::GetTempPath()) ('hook-install-' + [Guid]::NewGuid())
  New-Item -ItemType Directory -Path $temporary | Out-Null
  try {
    $archive = Join-Path $temporary "hook-engine-$target.zip"
    try {
      [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
      Invoke-WebRequest -UseBasicParsing -Uri "$url/hook-engine-$target.zip" -OutFile $archive
    } catch {
      throw "install.ps1: failed to download $url/hook-engine-$target.zip: $($_.Exception.Message); look at the network and run this again; nothing was installed"
    }
    $found = (Get-FileHash -Algorithm SHA256 -LiteralPath $archive).Hash.ToLowerInvariant()
    if ($found -ne $sum) {
      throw "install.ps1: the sum of the archive is $found instead of ${sum}: the download is incomplete or not the released file; nothing was installed"
    }
    Expand-Archive -LiteralPath $archive -DestinationPath $temporary
    $new = Join-Path $temporary "hook-engine-$target\hook.exe"
    & $new --version | Out-Null
    if ($LASTEXITCODE -ne 0) { throw 'install.ps1: the binary does not run on this system; nothing was installed' }
    try {
      New-Item -ItemType Directory -Force -Path $folder | Out-Null
      # A program that runs can be renamed, but not replaced.
      $old = "$place.old"
      if (Test-Path -LiteralPath $old) { Remove-Item -Force -LiteralPath $old -ErrorAction SilentlyContinue }
      if (Test-Path -LiteralPath $place) { Move-Item -Force -LiteralPath $place -Destination $old }
      Move-Item -LiteralPath $new -Destination $place
      Remove-Item -Force -LiteralPath $old -ErrorAction SilentlyContinue
    } catch {
      if ((Test-Path -LiteralPath "$place.old") -and -not (Test-Path -LiteralPath $place)) { Move-Item -LiteralPath "$place.old" -Destination $place }
      throw "install.ps1: cannot write ${place}: $($_.Exception.Message); name another folder in `$env:HOOK_INSTALL_DIR"
    }
  } finally {
    Remove-Item -Recurse -Force -LiteralPath $temporary -ErrorAction SilentlyContinue
  }

  "installed hook @VERSION@: $place"
  $first = Get-Command hook -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1
  if (($env:PATH -split ';').TrimEnd('\') -notcontains $folder.TrimEnd('\')) {
    "$folder is not in PATH. Add it:  [Environment]::SetEnvironmentVariable('PATH', '$folder;' + [Environment]::GetEnvironmentVariable('PATH', 'User'), 'User')"
  }
  if ($first -and $first.Source -ne $place) { Write-Warning "another hook comes first in PATH and is the one that runs: $($first.Source)" }
  'Next: hook init --user; hook connect --list'
}
