import type { Json } from "../../contract/json.ts";
import { quoteText } from "../../contract/text/invisible.ts";
import { type TextForm, textFault } from "../../contract/text/storable.ts";

export abstract class DomainError extends Error {}

/** Maps attribute names to phrases such as `is invalid` (422). */
export class InvalidError extends DomainError {
  override readonly name = "InvalidError";
  readonly errors: Readonly<Record<string, readonly string[]>>;

  constructor(errors: Readonly<Record<string, readonly string[]>>, sentence?: string) {
    super(
      sentence ??
        Object.entries(errors)
          .flatMap(([attribute, phrases]) => phrases.map((phrase) => `${attribute} ${phrase}`))
          .join("; "),
    );
    this.errors = errors;
  }
}

export function checkText(attribute: string, text: string, form?: TextForm): void {
  const fault = textFault(text, form);
  if (fault !== null) throw new InvalidError({ [attribute]: [fault] });
}

/** The change conflicts with existing data, such as a name that is taken. Administration requests get a 409. */
export class ConflictError extends InvalidError {}

export interface Confirmation {
  readonly question: string;
  readonly [fact: string]: Json;
}

/** Nothing was removed, because the removal wasn't confirmed. */
export class UnconfirmedError extends DomainError {
  override readonly name = "UnconfirmedError";
  readonly confirm: Confirmation;

  constructor(confirm: Confirmation) {
    super(`confirm: true is needed: ${confirm.question}`);
    this.confirm = confirm;
  }
}

/** Builds messages such as `a key named "ci" already exists`. */
export function alreadyExists(thing: string, attribute: "name" | "id", value: string): ConflictError {
  return new ConflictError({ [attribute]: ["has already been taken"] }, `${thing} ${quoteText(value)} already exists`);
}

/** A resource named in a path, or an Autopilot member to remove, doesn't exist (404). */
export class NotFoundError extends DomainError {
  override readonly name = "NotFoundError";
}

export class NotTakenError extends DomainError {
  override readonly name = "NotTakenError";
}

/** The data is currently unavailable (503); nothing was done. */
export class UnavailableError extends Error {
  override readonly name: string = "UnavailableError";
}
