import { useState } from "react";
import { IconButton } from "../_ui/button.tsx";
import { Monitor, Moon, Sun } from "../_ui/icons.tsx";
import { useFrame } from "./frame.tsx";
import { chooseTheme, type Theme } from "./theme.ts";

const order = ["system", "light", "dark"] as const;
const icons = { system: Monitor, light: Sun, dark: Moon };

export function ThemeToggle() {
  const [theme, setTheme] = useState<Theme>(useFrame().theme);
  const next = order[(order.indexOf(theme) + 1) % order.length] ?? "system";
  return (
    <IconButton
      icon={icons[theme]}
      isLarge
      label={`Theme: ${theme}. Switch to ${next}`}
      onClick={() => {
        chooseTheme(next);
        setTheme(next);
      }}
    />
  );
}
