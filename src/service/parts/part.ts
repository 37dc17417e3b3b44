import type { PathHandler } from "../http/create-http-service.ts";

/** A part with work of its own has a start and an end; a part that serves pages has a handler. */
export interface Part {
  readonly start?: () => void;
  /** Starts nothing new and lets work in progress finish, within bounds. */
  readonly stop?: () => Promise<void>;
  /** Called once all parts have stopped. */
  readonly close?: () => Promise<void>;
  readonly handler?: PathHandler;
}

export function startAll(parts: readonly Part[]): void {
  for (const part of parts) part.start?.();
}

export async function stopAll(parts: readonly Part[]): Promise<void> {
  await Promise.all(parts.map(async (part) => part.stop?.()));
}

export async function closeAll(parts: readonly Part[]): Promise<void> {
  await stopAll(parts);
  for (const part of parts) await part.close?.();
}

export function handlersOf(parts: readonly Part[]): readonly PathHandler[] {
  return parts.flatMap(({ handler }) => handler ?? []);
}
