import { usePathname, useSearchParams } from "next/navigation";
import { useEffect, useState } from "react";

/**
 * Whether a dialog is open. A link with `?new` opens it at once. The parameter is then removed from
 * the address, or a reload would open the dialog again.
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
