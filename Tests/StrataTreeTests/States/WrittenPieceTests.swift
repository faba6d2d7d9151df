import StrataModel
import TestSupport
import Testing

@testable import StrataTree

@Suite("Files that were just written")
struct WrittenPieceTests {
    /// A story with one change to flush.
    private func story() throws -> StateStory {
        var story = try StateStory(seed: 3)
        try story.change(300)
        return story
    }

    @Test("A piece that the disk did not keep is in no state, and the next attempt writes another", arguments: 0..<3)
    func lostWrite(part: Int) throws {
        var twin = try story()
        try twin.write()
        let piece = try #require(twin.store.snapshot().below.levels.runs.first?.run.pieces.first)
        let frames = [1, piece.footer.hashFrame, piece.footer.fencesFrame]
        let byte = frames[part] * piece.frameBytes + 40

        var story = try story()
        let disk = story.disk
        disk.beforeCall = { kind, path in
            guard kind == .map, path.hasSuffix(".run") else { return }
            #expect(throws: Never.self) { try disk.flipBit(path, byte: byte, bit: 2) }
        }
        let error = #expect(throws: StrataError.self) { try story.write() }
        // Not damage of the views, which are sound in memory.
        #expect(error?.code == .inputOutput && error?.context.page == nil)
        disk.beforeCall = nil
        #expect(try disk.list("/s/views") == [] && story.store.waitingGenerations == 1)
        try story.write()
        #expect(try StateStory.open(disk).state?.position.offset == 1)
        #expect(try story.store.snapshot().entries(StateStory.id) == twin.store.snapshot().entries(StateStory.id))
    }

    @Test("Long values that the disk did not keep are in no state either", arguments: [false, true])
    func lostValue(isAllZeros: Bool) throws {
        var story = try story()
        let disk = story.disk
        disk.beforeCall = { kind, path in
            guard kind == .map, path.hasSuffix(".blob") else { return }
            #expect(throws: Never.self) {
                let count = try disk.content(of: path).count
                if isAllZeros {
                    try disk.overwrite(path, at: 0, with: bytes(count, of: 0))
                } else {
                    try disk.flipBit(path, byte: count / 2, bit: 2)
                }
            }
        }
        let error = #expect(throws: StrataError.self) { try story.write() }
        // Not damage of the views, which are sound in memory.
        #expect(error?.code == .inputOutput && error?.context.page == nil)
        disk.beforeCall = nil
        #expect(try disk.list("/s/views") == [] && story.store.waitingGenerations == 1)
        try story.write()
        #expect(try StateStory.open(disk).store.snapshot().entries(StateStory.id) == story.expected)
    }

    @Test("A piece that was just written is not checked again")
    func checked() throws {
        var story = try story()
        try story.write()
        for path in story.disk.paths where path.hasSuffix(".run") {
            try story.disk.flipBit(path, byte: 2 * 4_096 - 1, bit: 2)
        }
        #expect(try story.store.snapshot().entries(StateStory.id).count > 100)
    }
}
