import { importsOf, isNode, parseSource, walk, type Import, type Sources, type SyntaxNode } from "./source-code.ts";

interface Layer {
  readonly name: string;
  readonly files: RegExp;
  readonly mayImport: readonly string[];
}

const base = ["contract", "runtime"];
const presentation = ["cli/args", "cli/render", "cli/streams", "cli/errors", "cli/exit-codes", "cli/process"];
const service = [
  "service/sql",
  "service/domain",
  "service/store",
  "service/http",
  "service/page",
  "service/delivery",
  "service/webhook",
  "service/history",
  "service/operations",
];
const sending = "service/sending";
const belowCommand = [...base, ...presentation, "config", "client", "service/service", sending, ...service];
const belowNouns = [...belowCommand, "bulk", "insight", "cli/kit"];
const belowProgram = [...belowNouns, "cli/importing", "cli/history", "cli/export", "cli/commands"];

/** The layers of docs/architecture.md; the most specific folder comes first. */
const LAYERS: readonly Layer[] = [
  { name: "contract", files: /^src\/contract\//, mayImport: [] },
  { name: "runtime", files: /^src\/runtime\//, mayImport: [] },
  { name: "config", files: /^src\/config\//, mayImport: ["runtime"] },
  { name: "client", files: /^src\/client\//, mayImport: base },
  { name: "bulk", files: /^src\/bulk\//, mayImport: base },
  { name: "insight", files: /^src\/insight\//, mayImport: base },
  { name: "service/sql", files: /^src\/service\/sql\//, mayImport: base },
  { name: "service/domain", files: /^src\/service\/domain\//, mayImport: ["service/sql", ...base] },
  ...service.slice(2).map((name) => ({
    name,
    files: new RegExp(`^src/${name}/`),
    mayImport: ["service/domain", "service/sql", ...base],
  })),
  {
    name: sending,
    files: /^src\/service\/sending\//,
    mayImport: ["service/domain", "service/sql", "service/delivery", ...base],
  },
  // Needs `insight` for the mailed digest, which is the printed report.
  {
    name: "service/service",
    files: /^src\/service\/(?:(?:data-file|digest|metrics|rehearsal|share)\/)?[^/]+\.ts$/,
    mayImport: [...service, sending, "insight", ...base],
  },
  { name: "cli/exit-codes", files: /^src\/cli\/exit-codes\.ts$/, mayImport: base },
  { name: "cli/process", files: /^src\/cli\/process\.ts$/, mayImport: [] },
  ...["args", "render", "streams", "errors"].map((room) => ({
    name: `cli/${room}`,
    files: new RegExp(`^src/cli/${room}/`),
    mayImport: [...presentation, ...base],
  })),
  { name: "cli/kit", files: /^src\/cli\/kit\//, mayImport: belowCommand },
  { name: "cli/importing", files: /^src\/cli\/importing\//, mayImport: belowNouns },
  { name: "cli/history", files: /^src\/cli\/history\//, mayImport: [...belowNouns, "cli/importing"] },
  { name: "cli/export", files: /^src\/cli\/export\//, mayImport: belowNouns },
  {
    name: "cli/commands",
    files: /^src\/cli\/commands\//,
    mayImport: [...belowNouns, "cli/importing", "cli/history", "cli/export"],
  },
  // These folders depend on each other: the program registers help, and help describes the program.
  { name: "cli/program", files: /^src\/cli\/(?:program|main|help|completion)(?:\.ts$|\/)/, mayImport: belowProgram },
];

const layerOf = (file: string): Layer | undefined => LAYERS.find((layer) => layer.files.test(file));

export function breaches(sources: Sources): string[] {
  const imports = [...sources].flatMap(([file, text]) => importsOf(file, text));
  return [
    ...homeless(sources),
    ...imports.flatMap((edge) => [...wrongArrow(edge, sources), ...wrongPackage(edge)]),
    ...secondDoors(imports),
    ...[...sources].flatMap(([file, text]) => [...wrongGlobals(file, text), ...wrongWords(file, text)]),
  ];
}

function homeless(sources: Sources): string[] {
  return [...sources.keys()].filter((file) => layerOf(file) === undefined).map((file) => `${file} lies in no layer`);
}

function wrongArrow({ from, to }: Import, sources: Sources): string[] {
  if (!to.startsWith("src/"))
    return to.startsWith("..") || to.startsWith("bin/") || to.startsWith("test/")
      ? [`${from} leaves src for ${to}`]
      : [];
  if (to.endsWith(".json")) return [];
  if (!sources.has(to)) return [`${from} imports ${to}, which is not there`];
  const [source, target] = [layerOf(from), layerOf(to)];
  if (source === undefined || target === undefined || source === target || source.mayImport.includes(target.name))
    return [];
  return [`${from} (${source.name}) may not import ${to} (${target.name})`];
}

function wrongPackage({ from, to }: Import): string[] {
  if (to === "<computed>") return [`${from} imports a computed name`];
  if (from.startsWith("src/contract/") && to.startsWith("node:"))
    return [`${from} is contract and may not import ${to}`];
  if (isPackage(to, "commander") && !from.startsWith("src/cli/"))
    return [`${from} may not import commander outside cli`];
  if (/^(?:node:)?process$/.test(to) && from !== "src/cli/main.ts") return [`${from} may not import ${to}`];
  if (/^(?:node:)?timers(?:\/promises)?$/.test(to) && !from.startsWith("src/runtime/"))
    return [`${from} may not import ${to} outside runtime`];
  return [];
}

function isPackage(target: string, name: string): boolean {
  return target === name || target.startsWith(`${name}/`);
}

function secondDoors(imports: readonly Import[]): string[] {
  const doors = [...new Set(imports.filter(({ to }) => isPackage(to, "undici")).map(({ from }) => from))];
  return doors.length > 1 ? [`undici is imported in ${doors.length} modules: ${doors.join(", ")}`] : [];
}

/** What only `runtime` may read from `process`. */
const RUNTIME_PROCESS = new Set([
  "process.pid",
  "process.execPath",
  "process.execArgv",
  "process.kill",
  "process.cpuUsage",
  "process.memoryUsage",
  "process.emitWarning",
  "process.hrtime",
  "process.getuid",
]);
const TIMERS = new Set(["setTimeout", "setInterval"]);

function wrongGlobals(file: string, text: string): string[] {
  const found: string[] = [];
  const complain = (what: string): void => void found.push(`${file} uses ${what}`);
  const inRuntime = file.startsWith("src/runtime/");
  if (!/process|Date|Math|setTimeout|setInterval/.test(text)) return found;
  walk(parseSource(text), (node) => {
    // A parameter named `process` isn't the global.
    if (declaresProcess(node)) return false;
    const member = memberName(node);
    const allowed = file === "src/cli/main.ts" || (inRuntime && RUNTIME_PROCESS.has(member ?? ""));
    if (!allowed && member?.startsWith("process.")) complain(member);
    if (member === "globalThis.process") complain(member);
    if (!inRuntime && (member === "Date.now" || member === "Math.random")) complain(member);
    if (!inRuntime && isCurrentDate(node)) complain("new Date()");
    if (!inRuntime && node.type === "CallExpression" && isNode(node.callee) && TIMERS.has(String(node.callee.name)))
      complain(String(node.callee.name));
    return true;
  });
  return found;
}

function declaresProcess(node: SyntaxNode): boolean {
  const parameters = Array.isArray(node.params) ? node.params : [];
  return parameters.some(
    (parameter) => isNode(parameter) && parameter.type === "Identifier" && parameter.name === "process",
  );
}

/** `Date.now` for `Date.now` and `Date["now"]`. */
function memberName(node: SyntaxNode): string | undefined {
  if (
    node.type !== "MemberExpression" ||
    !isNode(node.object) ||
    node.object.type !== "Identifier" ||
    !isNode(node.property)
  )
    return undefined;
  return `${String(node.object.name)}.${String(node.property.name ?? node.property.value)}`;
}

function isCurrentDate(node: SyntaxNode): boolean {
  const made = node.type === "NewExpression" || node.type === "CallExpression";
  return (
    made &&
    isNode(node.callee) &&
    node.callee.name === "Date" &&
    Array.isArray(node.arguments) &&
    node.arguments.length === 0
  );
}

/**
 * Errors carry codes and facts; only `cli` suggests commands. The exceptions set V8 flags and tell a page's visitor
 * which command makes a link.
 */
const MAY_NAME_FLAGS = /^src\/(?:cli\/|runtime\/v8-limits\.ts$|service\/page\/response-page\.ts$)/;
// `--name:#123` and `var(--name)` are CSS.
const FLAG_OR_COMMAND = /(?:^|[\s"']|(?<!var)\()--(?![a-z-]+:#)[a-z][a-z-]+|\bsurveyctl [a-z]{3,} /;

function wrongWords(file: string, text: string): string[] {
  if (MAY_NAME_FLAGS.test(file)) return [];
  const found: string[] = [];
  if (!/--|surveyctl/.test(text)) return found;
  walk(parseSource(text), (node) => {
    const words = node.type === "TemplateElement" ? (node.value as { raw: string }).raw : node.value;
    const [name] = typeof words === "string" ? (FLAG_OR_COMMAND.exec(words) ?? []) : [];
    if (name !== undefined) found.push(`${file} names ${name.trim()}, which cli knows alone`);
    return true;
  });
  return found;
}
