interface TreeFlag {
  readonly name: string;
  readonly short: string | null;
  readonly type: string;
  readonly description: string;
  readonly choices?: readonly string[] | null;
  readonly suggestions?: readonly string[] | null;
}

interface TreeNode {
  readonly name: string;
  readonly description: string;
  readonly flags: readonly TreeFlag[];
  readonly arguments: readonly {
    readonly name: string;
    readonly type: string;
    readonly choices?: readonly string[] | null;
  }[];
  readonly columns: readonly string[];
  readonly aliases: readonly string[];
  readonly commands: readonly TreeNode[];
}

export interface CommandTree {
  readonly global_flags: readonly TreeFlag[];
  readonly topics: readonly string[];
  readonly commands: readonly TreeNode[];
}

export interface Candidate {
  readonly value: string;
  readonly description: string;
}

export function mayBeFile(tree: CommandTree, before: readonly string[], current: string): boolean {
  if (before[0] === "help") return false;
  const { node, pending, operands } = readWords(tree, before);
  const name = /^(--[\w-]+)=/s.exec(current)?.[1];
  const assigned = [...(node?.flags ?? []), ...tree.global_flags].find((flag) => flag.name === name);
  const flag = pending ?? assigned;
  if (flag !== undefined && flag !== null) return flag.type === "path" || MIXED_FLAGS.has(flag.name);
  return !current.startsWith("-") && node?.arguments[operands]?.type === "path";
}

const MIXED_FLAGS = new Set(["--field", "--properties"]);

export function findCandidates(
  tree: CommandTree,
  before: readonly string[],
  current: string,
  profiles: () => readonly string[],
): Candidate[] {
  if (before[0] === "help") return matching(helpWords(tree, before.slice(1)), current);
  const { node, pending, operands } = readWords(tree, before);
  const flags = node === null ? tree.global_flags : [...node.flags, ...tree.global_flags];
  const assigned = /^(--[\w-]+=)(.*)$/s.exec(current);
  if (pending !== null && !current.startsWith("--")) return valuesOf(pending, node, current, profiles);
  if (assigned !== null) {
    const [, prefix = "", text = ""] = assigned;
    const flag = flags.find(({ name }) => `${name}=` === prefix);
    return flag === undefined
      ? []
      : valuesOf(flag, node, text, profiles).map((found) => ({ ...found, value: prefix + found.value }));
  }
  if (current.startsWith("-"))
    return matching([...flags.map(toCandidate), { value: "--help", description: "usage and examples" }], current);
  const commands = node === null ? [...tree.commands, HELP] : node.commands;
  if (commands.length > 0) return matching(commands.map(toCandidate), current);
  return matching(plain(operandValues(node?.arguments[operands], profiles)), current);
}

const HELP = { name: "help", description: "a command's help, or a topic's" };

interface Place {
  readonly node: TreeNode | null;
  readonly pending: TreeFlag | null;
  readonly operands: number;
}

function readWords(tree: CommandTree, words: readonly string[]): Place {
  let place: Place = { node: null, pending: null, operands: 0 };
  for (const word of words) place = readWord(tree, place, word);
  return place;
}

function readWord(tree: CommandTree, { node, pending, operands }: Place, word: string): Place {
  if (pending !== null && !word.startsWith("--")) return { node, pending: null, operands };
  if (word.startsWith("-")) {
    const flag = [...(node?.flags ?? []), ...tree.global_flags].find(
      ({ name, short }) => name === word || short === word,
    );
    return { node, pending: flag === undefined || flag.type === "boolean" ? null : flag, operands };
  }
  const commands = node?.commands ?? (node === null ? tree.commands : []);
  const found = commands.find(({ name, aliases }) => name === word || aliases.includes(word));
  return found === undefined ? { node, pending, operands: operands + 1 } : { node: found, pending, operands: 0 };
}

function valuesOf(flag: TreeFlag, node: TreeNode | null, text: string, profiles: () => readonly string[]): Candidate[] {
  if (flag.name === "--profile") return matching(plain(profiles()), text);
  const list = flag.name === "--columns" ? (node?.columns ?? []) : (flag.choices ?? flag.suggestions ?? []);
  const done = flag.type === "list" ? text.slice(0, text.lastIndexOf(",") + 1) : "";
  const taken = done.split(",");
  return matching(plain(list.filter((value) => !taken.includes(value)).map((value) => done + value)), text);
}

function operandValues(
  operand: TreeNode["arguments"][number] | undefined,
  profiles: () => readonly string[],
): readonly string[] {
  // The built-in profile can't be the default.
  return operand?.name === "profile" ? profiles().filter((name) => name !== "local") : (operand?.choices ?? []);
}

function helpWords(tree: CommandTree, path: readonly string[]): Candidate[] {
  if (path.length > 0) return (readWords(tree, path).node?.commands ?? []).map(toCandidate);
  return [...tree.commands.map(toCandidate), ...tree.topics.map((value) => ({ value, description: "topic" }))];
}

function toCandidate({ name, description }: { readonly name: string; readonly description: string }): Candidate {
  return { value: name, description };
}

function plain(values: readonly string[]): Candidate[] {
  return values.map((value) => ({ value, description: "" }));
}

function matching(candidates: readonly Candidate[], start: string): Candidate[] {
  return candidates.filter(({ value }) => value.startsWith(start));
}
