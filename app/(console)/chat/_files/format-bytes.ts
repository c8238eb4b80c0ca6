const units = ["B", "KiB", "MiB", "GiB"] as const;

/** Formats a size, such as `1.5 MiB`. */
export function formatBytes(bytes: number): string {
  const step = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const value = bytes / 1024 ** step;
  return `${value.toLocaleString("en", { maximumFractionDigits: step === 0 ? 0 : 1 })} ${units[step]}`;
}
