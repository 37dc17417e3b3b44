export function replaceText(text: string, part: string, by: string): string {
  if (part === "") return text;
  const pattern = new RegExp(part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi");
  return text.replaceAll(pattern, () => by);
}
