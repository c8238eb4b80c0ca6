/** The options of a select of IANA time zones: those that the browser knows, and the chosen one. */
export function TimeZoneOptions({ chosen }: { readonly chosen: string }) {
  const zones = new Set(["UTC", ...Intl.supportedValuesOf("timeZone")]);
  if (chosen !== "") zones.add(chosen);
  return [...zones].map((zone) => (
    <option key={zone} value={zone}>
      {zone.replaceAll("_", " ")}
    </option>
  ));
}
