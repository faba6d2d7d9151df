import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataReplication

@Suite("What copies note of themselves")
struct CopyNotesTests {
    private let disk = SimulatedDisk()
    private let store = Identifier(high: 1, low: 2)

    private func notes() throws -> CopyNotes {
        try disk.makeDirectory("/files")
        try disk.replace("/files/OWNER", in: "/files", with: Array(store.description.utf8))
        return CopyNotes(in: "/files", disk)
    }

    @Test(
        "A note is read as it was written, whatever is in the path",
        arguments: ["/a", "/a\nb", "/x\nerased 7", "/é "])
    func paths(path: String) throws {
        let notes = try notes()
        let note = CopyNotes.Note(number: 3, time: 5, path: path, erased: 12)
        #expect(try notes.write(note, of: Identifier(high: 0, low: 1), in: store))
        #expect(try notes.all(now: 9) == [note])
    }

    @Test("A note of an earlier build has no erasures; a damaged one counts as one that has read nothing")
    func others() throws {
        let notes = try notes()
        #expect(try notes.all(now: 9) == [])
        let note = CopyNotes.Note(number: 3, time: 5, path: "/a", erased: nil)
        let copy = Identifier(high: 0, low: 1)
        #expect(try notes.write(note, of: copy, in: store))
        #expect(try notes.all(now: 9) == [note] && notes.live(now: 9) == [note])
        #expect(try notes.live(now: 8 * 86_400_000_000) == [])
        try disk.replace("/files/copies/\(copy)", in: "/files/copies", with: Array("x".utf8))
        #expect(try notes.all(now: 9).map(\.number) == [0])
        #expect(try !notes.write(note, of: copy, in: Identifier(high: 3, low: 3)))
    }
}
