import { expect, it } from "vitest";
import { runInProcess } from "../../../helpers/in-process.ts";

it.each(["bash", "zsh", "fish", "powershell"])(
  "when the shell is %s, then its script asks the program",
  async (shell) => {
    const { status, stdout } = await runInProcess({ args: ["completion", shell, "--quiet"] });
    expect([status, stdout.includes("__complete")]).toEqual([0, true]);
  },
);

it("when the shell is another one, then the error lists those that there are", async () => {
  expect(await runInProcess({ args: ["completion", "tcsh"] })).toMatchObject({
    status: 2,
    stdout: "",
    stderr: expect.stringContaining('"tcsh" is not one of bash, zsh, fish, powershell') as string,
  });
});
