import { Monitor, Moon, Sun } from "lucide-react";
import { useState } from "react";
import { IconButton } from "../_ui/button.tsx";
import { useFrame } from "./frame.tsx";
import { chooseTheme, type Theme } from "./theme.ts";

const order = ["system", "light", "dark"] as const;
const icons = { system: Monitor, light: Sun, dark: Moon };

export function ThemeToggle() {
  const [theme, setTheme] = useState<Theme>(useFrame().theme);
  const next = order[(order.indexOf(theme) + 1) % order.length] ?? "system";
  const Icon = icons[theme];
  const label = `Theme: ${theme}. Switch to ${next}`;
  return (
    <IconButton
      icon={Icon}
      isLarge
      label={label}
      onClick={() => {
        chooseTheme(next);
        setTheme(next);
      }}
    />
  );
}
