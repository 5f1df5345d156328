{
  description = "Run your own checks before an AI agent uses a tool, calls a model or ends its turn";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      # Static on Linux, so that nothing is patched.
      archives = {
@SYSTEMS@
      };
    in
    {
      packages = nixpkgs.lib.mapAttrs
        (system: archive:
          let pkgs = nixpkgs.legacyPackages.${system};
          in rec {
            default = hook-engine;
            hook-engine = pkgs.stdenvNoCC.mkDerivation {
              pname = "hook-engine";
              version = "@VERSION@";
              src = pkgs.fetchurl {
                url = "@URL@/hook-engine-${archive.target}.tar.xz";
                inherit (archive) hash;
              };
              nativeBuildInputs = [ pkgs.installShellFiles ];
              dontStrip = true;
              installPhase = ''
                install -Dm755 hook $out/bin/hook
                installManPage man/man1/*
                installShellCompletion completions/hook.bash completions/hook.fish completions/_hook
              '';
              meta = {
                homepage = "@HOMEPAGE@";
                license = with pkgs.lib.licenses; [ mit asl20 ];
                mainProgram = "hook";
              };
            };
          })
        archives;
    };
}
