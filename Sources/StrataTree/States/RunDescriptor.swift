import StrataModel

/// A run as a state names it.
struct RunDescriptor: Sendable {
    var level: RunLevel
    /// The first key that is visible; nil if all are.
    var visibleFrom: RunKey?
    var pieces: [PieceDescriptor]

    func encode(to writer: inout ByteWriter) {
        writer.append(level.rawValue)
        writer.append(UInt8(visibleFrom == nil ? 0 : 1))
        visibleFrom?.encode(to: &writer)
        writer.append(UInt32(pieces.count))
        for piece in pieces { piece.encode(to: &writer) }
    }

    init(decoding reader: inout ByteReader) throws {
        let number = try reader.read(UInt8.self, "the level of a run")
        guard let level = RunLevel(rawValue: number) else {
            throw reader.malformed("the level of a run", expected: "0 to 2", found: "\(number)")
        }
        self.level = level
        visibleFrom = try reader.read(UInt8.self, "the first key of a run") == 0 ? nil : RunKey(decoding: &reader)
        pieces = []
        for _ in 0..<(try reader.read(UInt32.self, "the pieces of a run")) {
            pieces.append(try PieceDescriptor(decoding: &reader))
        }
    }

    init(_ run: LeveledRun) {
        level = run.level
        visibleFrom = run.run.visibleFrom
        pieces = run.run.pieces.map(\.descriptor)
    }
}
