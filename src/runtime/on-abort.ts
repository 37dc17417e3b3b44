const watched = new WeakMap<AbortSignal, (() => void)[]>();

/**
 * Calls `callback` when the signal is aborted, unless the returned function was called first. All waiters share one
 * listener: V8 would keep removed listeners until the next full collection.
 */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal === undefined) return () => undefined;
  const callbacks = watched.get(signal) ?? watch(signal);
  callbacks.push(callback);
  return () => {
    const at = callbacks.indexOf(callback);
    if (at !== -1) callbacks.splice(at, 1);
  };
}

function watch(signal: AbortSignal): (() => void)[] {
  const callbacks: (() => void)[] = [];
  watched.set(signal, callbacks);
  const callAll = (): void => {
    while (callbacks.length > 0) callbacks.shift()?.();
  };
  signal.addEventListener("abort", callAll, { once: true });
  return callbacks;
}
