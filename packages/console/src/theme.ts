/** Dark or light: as the system wants it, until a person chooses. */
import { effect, signal } from '@preact/signals';

export type Theme = 'dark' | 'light';
const wanted = matchMedia('(prefers-color-scheme: dark)');
const chosen = (): Theme | undefined => {
  const value = localStorage.getItem('theme');
  return value === 'dark' || value === 'light' ? value : undefined;
};

export const theme = signal<Theme>(chosen() ?? (wanted.matches ? 'dark' : 'light'));

wanted.addEventListener('change', () => {
  theme.value = chosen() ?? (wanted.matches ? 'dark' : 'light');
});

export function setTheme(value: Theme): void {
  localStorage.setItem('theme', value);
  theme.value = value;
}

effect(() => {
  document.documentElement.dataset['theme'] = theme.value;
});
