/** The words of use, which only its chunks name. */
import { addWords, language } from '../catalogue.ts';

const files = {
  en: () => import('../languages/en/usage.ts'),
  de: () => import('../languages/de/usage.ts'),
};

export const usageWords = (): Promise<void> => addWords([files[language]()]);
