import type { Command } from "commander";
import type { CommandContext } from "../../../command/command-context.ts";
import type { Flags } from "../../../args/flags.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { readLogoFile } from "./logo-file.ts";
import { projectVerb } from "../project-verb.ts";
import { BRAND } from "../service-resources.ts";

/** The flags of `brand set`. Null leaves a part; an empty text takes it back. */
interface GivenBrand {
  readonly name: string | null;
  readonly color: string | null;
  /** A file's path. */
  readonly logo: string | null;
}

/** Throws UsageError. */
async function readBrand(flags: Flags): Promise<{ readonly [Part in keyof GivenBrand]?: string }> {
  const [name, color, logo] = [flags.text("--name"), flags.text("--color"), flags.text("--logo")];
  if (name === null && color === null && logo === null)
    throw new UsageError("specify at least one of --name, --color and --logo");
  const picture = logo === null || logo === "" ? logo : await readLogo(logo);
  await checkBrand({ name, color, logo }, picture);
  return {
    ...(name === null ? {} : { name }),
    ...(color === null ? {} : { color }),
    ...(picture === null ? {} : { logo: picture }),
  };
}

/** `picture` is what the logo's file holds, in base64. Throws UsageError. */
async function checkBrand(given: GivenBrand, picture: string | null): Promise<void> {
  const { brandProblems } = await import("../../../../service/domain/projects/brand.ts");
  const logo = picture === null || picture === "" ? null : Buffer.from(picture, "base64");
  const [wrong] = brandProblems({ name: given.name || null, color: given.color || null, logo });
  if (wrong === undefined) return;
  const [part, problem] = wrong;
  throw new UsageError(`--${part}: ${part === "logo" ? given.logo : JSON.stringify(given[part])} ${problem}`);
}

/** Throws UsageError. */
function readLogo(file: string): Promise<string> {
  return readLogoFile(file, {
    unreadable: (why) => new UsageError(`--logo: cannot read ${file}: ${why}`),
    empty: () => new UsageError(`--logo: ${file} is empty`),
  });
}

export function registerBrand(parent: Command, context: CommandContext): void {
  const noun = parent.command("brand").description("how survey pages and e-mails look: name, colour and logo");
  projectVerb(context, noun, {
    kind: "brand",
    name: "set",
    summary: "set the brand; an empty value clears a part",
    examples: [
      "surveyctl service brand set --name Acme --color '#0a7' --logo logo.svg --data survey.db",
      "surveyctl service brand set --logo '' --project acme",
    ],
    flags: [
      { flag: "--name", value: "name", text: "name on pages and in e-mails" },
      { flag: "--color", value: "color", text: "colour of buttons, such as #0a7; text on it must be readable" },
      { flag: "--logo", value: "file", text: "PNG, JPEG or SVG of at most 32 KB, shown on pages" },
    ],
    columns: BRAND,
    details: ({ flags }) => readBrand(flags),
  });
  projectVerb(context, noun, {
    kind: "brand",
    name: "show",
    summary: "show the brand",
    examples: ["surveyctl service brand show --data survey.db", "surveyctl service brand show --json"],
    columns: BRAND,
  });
}
