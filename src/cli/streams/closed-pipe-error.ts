/** Nobody reads stdout any more (`| head`): the command ends quietly with status 0. */
export class ClosedPipeError extends Error {
  override readonly name = "ClosedPipeError";

  constructor() {
    super("the reader of standard output has gone");
  }
}
