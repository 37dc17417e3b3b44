/** Runs the examples in help: a service with some data, and the files that they name. */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { openResident, runLine, runShell } from "./resident.ts";
import { bareEnvironment, inProcesses, shellProgram, type Ended } from "./run-cli.ts";
import { startServe } from "./serve.ts";

export interface ExampleWorld {
  type(example: string): Promise<Ended>;
  close(): Promise<void>;
}

const FILES: Readonly<Record<string, string>> = {
  "customers.csv": "email,phone_number,name,plan\nann@example.com,,Ann,pro\n",
  "responses.csv": "person_email,score,comment\nann@example.com,9,Great\n",
  "members.csv": "email,name\nann@example.com,Ann\n",
  "leavers.csv": "email\nann@example.com\n",
  "summary.md": "# No responses yet\n",
  "history.csv": "person_email,score,created_at\nann@example.com,9,2025-01-31\n",
};

const FOLLOWS = "surveyctl responses tail";

export async function openExampleWorld(): Promise<ExampleWorld> {
  const service = await startServe();
  const work = path.join(service.folder, "work");
  await mkdir(path.join(service.folder, "bin"));
  await mkdir(work);
  await mkdir(path.join(service.folder, "home/.config/fish/completions"), { recursive: true });
  const resident = path.join(service.folder, "resident");
  // `tail` is interrupted after 3 s. `serve` counts as working once it listens, and gets a free port.
  const program = `#!/bin/sh
if [ "surveyctl $1 $2" = "${FOLLOWS}" ]; then exec timeout --preserve-status --signal INT 3 ${shellProgram()} "$@"; fi
if [ "$1" != serve ]; then exec ${inProcesses ? shellProgram() : `${resident}/surveyctl`} "$@"; fi
case "$*" in *--port*) ;; *) set -- "$@" --port 0;; esac
${shellProgram()} "$@" > "serve.$$" &
while kill -0 $! && ! grep -q listening "serve.$$"; do sleep 0.1; done 2> /dev/null
kill -TERM $! 2> /dev/null
wait $!
`;
  await writeFile(path.join(service.folder, "bin/surveyctl"), program, { mode: 0o755 });
  // Stands in for a mail program, which would really send the message.
  await writeFile(path.join(service.folder, "bin/sendmail"), "#!/bin/sh\ngrep -q ^Subject:\n", { mode: 0o755 });
  for (const [name, text] of Object.entries(FILES)) await writeFile(path.join(work, name), text);
  await service.run(["people", "add", "--email", "ada@example.com", "--name", "Ada", "--no-send"]);
  for (const name of ["Early", "Late"])
    await service.run(["service", "trend", "add", name, "--where", "plan=pro", "--data", service.dataFile]);
  const env = bareEnvironment(path.join(service.folder, "home"), {
    ...service.env,
    SURVEYCTL_DATA: service.dataFile,
    KEY: service.apiKey,
    PATH: `${path.join(service.folder, "bin")}:${process.env.PATH ?? ""}`,
  });
  await mkdir(resident);
  const shim = await openResident(resident, work);
  return {
    // Replaces the only host in the examples.
    type: (example) =>
      (inProcesses || example.startsWith(FOLLOWS) ? runShell : runLine)(
        example.replaceAll("https://surveys.example.com", service.baseUrl),
        {
          folder: service.folder,
          cwd: work,
          env,
          stdin: "",
        },
      ),
    close: async () => {
      await shim.close();
      await service.stop();
    },
  };
}
