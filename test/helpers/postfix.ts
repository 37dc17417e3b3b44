/** A Postfix on a free port that delivers all mail for one domain to a Maildir. */
import { execFile, execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { isInstalled } from "./installed.ts";

export interface Postfix {
  readonly port: number;
  readonly mails: () => Promise<readonly string[]>;
  readonly queued: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

export const hasPostfix = process.getuid?.() === 0 && isInstalled("postfix");

const run = promisify(execFile);

export async function startPostfix(domain: string): Promise<Postfix> {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-postfix-"));
  await chmod(folder, 0o755);
  const port = await freePort();
  await configure(folder, port, domain);
  const config = path.join(folder, "etc");
  await run("postfix", ["-c", config, "start"]);
  const inbox = path.join(folder, "mail/box/new");
  return {
    port,
    mails: async () => {
      const names = await readdir(inbox).catch(() => []);
      return Promise.all(names.map((name) => readFile(path.join(inbox, name), "utf8")));
    },
    queued: async () => {
      const { stdout } = await run("postqueue", ["-c", config, "-j"]);
      return stdout.split("\n").filter((line) => line !== "").length;
    },
    stop: async () => {
      await run("postfix", ["-c", config, "stop"]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function configure(folder: string, port: number, domain: string): Promise<void> {
  for (const name of ["etc", "queue", "data", "mail"]) await mkdir(path.join(folder, name));
  const { uid, gid } = ownerOf("postfix");
  execFileSync("chown", [`${uid}:${gid}`, path.join(folder, "data"), path.join(folder, "mail")]);
  const settings = {
    compatibility_level: "3.6",
    queue_directory: path.join(folder, "queue"),
    data_directory: path.join(folder, "data"),
    maillog_file: path.join(folder, "mail.log"),
    maillog_file_prefixes: folder,
    inet_interfaces: "127.0.0.1",
    inet_protocols: "ipv4",
    mynetworks: "127.0.0.0/8",
    myhostname: "mail.test",
    mydestination: "",
    virtual_mailbox_domains: domain,
    virtual_mailbox_base: path.join(folder, "mail"),
    virtual_mailbox_maps: "static:box/",
    virtual_minimum_uid: "1",
    virtual_uid_maps: `static:${uid}`,
    virtual_gid_maps: `static:${gid}`,
    alias_maps: "",
    local_recipient_maps: "",
  };
  const main = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
  await writeFile(path.join(folder, "etc/main.cf"), main.join(""));
  await writeFile(path.join(folder, "etc/master.cf"), master(port));
}

function master(port: number): string {
  const own = "unix - - n - -";
  const services = [
    `127.0.0.1:${port} inet n - n - - smtpd`,
    "pickup unix n - n 60 1 pickup",
    `cleanup unix n - n - 0 cleanup`,
    "qmgr unix n - n 300 1 qmgr",
    `rewrite ${own} trivial-rewrite`,
    `bounce unix - - n - 0 bounce`,
    `defer unix - - n - 0 bounce`,
    `trace unix - - n - 0 bounce`,
    `proxymap ${own} proxymap`,
    `showq unix n - n - - showq`,
    `error ${own} error`,
    `retry ${own} error`,
    `virtual unix - n n - - virtual`,
    `anvil unix - - n - 1 anvil`,
    `postlog unix-dgram n - n - 1 postlogd`,
  ];
  return services.map((line) => `${line}\n`).join("");
}

function ownerOf(user: string): { readonly uid: string; readonly gid: string } {
  const [uid = "", gid = ""] = ["-u", "-g"].map((flag) =>
    execFileSync("id", [flag, user], { encoding: "utf8" }).trim(),
  );
  return { uid, gid };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
