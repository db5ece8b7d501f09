/** Content blocks of ACP as text: the kit reads them too. */
export { type Fields, listOf, pieceOf, recordOf, textOf, wordsOf } from '@relay/daemon-kit';
