// Opens the embedded database in the folder of the first argument, prints `open <pid>` or the error, and holds it until
// its stdin closes.
import { openDatabase } from '../../dist/index.js';

try {
  const database = await openDatabase({ dataDir: process.argv[2] });
  console.log(`open ${process.pid}`);
  process.stdin.resume().once('end', () => void database.close());
} catch (error) {
  console.log(`${error.code} ${error.message}`);
}
