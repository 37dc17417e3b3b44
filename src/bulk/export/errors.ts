/** The service answered a request for a time range with rows outside it: its list has to be read in one walk. */
export class FiltersIgnoredError extends Error {
  override readonly name = "FiltersIgnoredError";

  constructor() {
    super("the service answers with rows outside the time range that was asked for");
  }
}
