import { usePathname, useSearchParams } from "next/navigation";
import { useEffect, useState } from "react";

/**
 * Whether a dialog is open. It opens at once for a link with `?new`, which is then taken out of the
 * address, so that a reload does not open it again.
 */
export function useOpenedByLink() {
  const asked = useSearchParams().has("new");
  const path = usePathname();
  const state = useState(asked);
  useEffect(() => {
    if (asked) history.replaceState(null, "", path);
  }, [asked, path]);
  return state;
}
