/** Texts of sessions, the queries that find them, and queries that do not. */
import { type Database, listSessions } from '../src/index.ts';
import { device } from './databases.ts';

const texts: readonly { title: string; found: readonly string[]; missed: readonly string[] }[] = [
  { title: 'Вишнёвый САД', found: ['сад', 'ВИШНЁВ', 'Сад вишнёвый'], missed: ['ад'] },
  { title: '日本語のテスト', found: ['日本', '本', 'テスト'], missed: ['中国'] },
  { title: 'Übergröße prüfen', found: ['übergröße', 'ÜBER', 'Prüf'], missed: ['größe'] },
  { title: 'Release v2.10.3 of PR1234', found: ['2.10', 'v2.10', '10.3', '1234', 'pr12'], missed: ['2.11', '34'] },
  { title: 'Cafe\u0301 decomposed', found: ['caf\u00e9', 'cafe\u0301'], missed: [] },
  { title: 'Caf\u00e9 composed', found: ['cafe\u0301'], missed: [] },
  { title: 'สวัสดีชาวโลก today', found: ['สวัสดี', 'ชาวโลก', 'ดีชาว', 'โลก today', 'ก'], missed: ['ชาวดี', 'วโลส'] },
  { title: 'हिन्दी में परीक्षण', found: ['हिन्दी', 'हिन्', 'परीक्षण'], missed: ['हिम'] },
  { title: 'Ελληνικά ΚΕΊΜΕΝΑ', found: ['κείμενα', 'ΕΛΛΗΝ'], missed: ['ειμενα'] },
];

export async function addTexts(database: Database): Promise<void> {
  await database.models.device.create({ data: device('laptop') });
  for (const [n, { title }] of texts.entries())
    await database.models.session.create({
      data: { key: `k${n}`, nativeId: `n${n}`, ownerId: 'ada', deviceId: 'laptop', agentType: 'claude', title },
    });
}

/** Queries whose answer is wrong. */
export async function wrongAnswers(database: Database): Promise<string[]> {
  const wrong: string[] = [];
  for (const [n, { title, found, missed }] of texts.entries())
    for (const q of [...found, ...missed]) {
      const { sessions: listed } = await listSessions(database, 'ada', { q, archived: 'false', limit: 50 });
      if (listed.some(({ key }) => key === `k${n}`) !== found.includes(q)) wrong.push(`${q} in ${title}`);
    }
  return wrong;
}
