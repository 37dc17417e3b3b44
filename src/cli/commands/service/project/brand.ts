import { UsageError } from "../../../errors/usage-error.ts";
import { defineGroup } from "../../../kit/command-node.ts";
import { serviceCommand } from "../service-command.ts";
import { readLogoFile } from "./logo-file.ts";

export const brand = defineGroup({
  name: "brand",
  summary: "how survey pages and e-mails look: name, color and logo",
  commands: [
    serviceCommand({
      operation: "brand.set",
      summary: "set the brand; an empty value clears a part",
      examples: [
        "surveyctl service brand set --name Acme --color '#0a7' --logo logo.svg --data survey.db",
        "surveyctl service brand set --logo '' --project acme",
      ],
      flags: {
        name: { value: "name", text: "name on pages and in e-mails" },
        color: { value: "color", text: "color of buttons, such as #0a7; text on it must be readable" },
        logo: { value: "file", text: "PNG, JPEG or SVG of at most 32 KB, shown on pages" },
      },
      noun: "settings",
      input: readBrand,
    }),
    serviceCommand({
      operation: "brand.show",
      summary: "show the brand",
      examples: ["surveyctl service brand show --data survey.db", "surveyctl service brand show --json"],
      noun: "settings",
    }),
  ],
});

type Brand = Readonly<Record<"name" | "color" | "logo", string | null>>;

async function readBrand(given: Brand): Promise<Brand> {
  const { name, color, logo } = given;
  if (name === null && color === null && logo === null)
    throw new UsageError("specify at least one of --name, --color and --logo");
  const picture = logo === null || logo === "" ? logo : await readLogo(logo);
  const { brandProblems } = await import("../../../../service/domain/projects/brand.ts");
  const bytes = picture === null || picture === "" ? null : Buffer.from(picture, "base64");
  const [wrong] = brandProblems({ name: name || null, color: color || null, logo: bytes });
  if (wrong === undefined) return { name, color, logo: picture };
  const [part, problem] = wrong;
  throw new UsageError(`--${part}: ${part === "logo" ? logo : JSON.stringify(given[part])} ${problem}`);
}

function readLogo(file: string): Promise<string> {
  return readLogoFile(file, {
    unreadable: (why) => new UsageError(`--logo: cannot read ${file}: ${why}`),
    empty: () => new UsageError(`--logo: ${file} is empty`),
  });
}
