const units = ["B", "KiB", "MiB", "GiB"] as const;

/** A size for people. */
export function inBytes(bytes: number): string {
  const step = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const value = bytes / 1024 ** step;
  return `${value.toLocaleString("en", { maximumFractionDigits: step === 0 ? 0 : 1 })} ${units[step]}`;
}
