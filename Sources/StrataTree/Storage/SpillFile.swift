import StrataModel
import StrataSystem

/// A file without a name that takes the pages which do not fit the memory of our own: the kernel writes them out when
/// it needs room. It ends with the process.
// @unchecked: used under the lock of the arena's slots only.
final class SpillFile: @unchecked Sendable {
    private static let stepSlots = 1_024

    private let files: any FileSystem
    private let path: String
    private var file: (any File)?
    private var slotCount = 0

    init(files: any FileSystem, path: String) {
        self.files = files
        self.path = path
    }

    /// Makes sure that the slot can be used, with space on the medium that is really there.
    ///
    /// - Parameters:
    ///   - limit: how many there may be; what lies behind them is not the file's.
    ///   - base: where slot 0 goes.
    func prepare(_ slot: Int, of limit: Int, base: UnsafeMutableRawPointer) throws {
        if slot < slotCount { return }
        let file = try opened()
        let end = min(slot + Self.stepSlots, limit)
        let range = slotCount * PageLayout.pageBytes..<end * PageLayout.pageBytes
        try file.allocate(range)
        try file.map(range, over: base + range.lowerBound)
        slotCount = end
    }

    private func opened() throws -> any File {
        if let file { return file }
        let file = try files.openUnnamed(path)
        self.file = file
        return file
    }
}
