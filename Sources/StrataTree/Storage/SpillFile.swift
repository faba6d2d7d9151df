import StrataSystem

/// An unnamed file for pages that exceed the anonymous memory; the kernel writes them out when it needs room. It ends
/// with the process.
// @unchecked: used only under the lock of the arena's slots.
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

    /// Makes the slot usable, with allocated space on the medium.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of slots; the memory after them does not belong to the file.
    ///   - base: the address of slot 0.
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
