import StrataModel
import StrataSystem

/// Creates a new, empty segment that is durable under its name.
struct SegmentMaker {
    let paths: StorePaths
    let platform: Platform
    let storeID: Identifier

    /// - Parameter spare: a file of zeros that is named `spare`; nil to create one.
    func make(after end: Position, time: Int64, spare: (any File)?) throws -> (segment: SegmentFile, file: any File) {
        let (header, bytes) = try SegmentHeader.make(
            storeID: storeID, segmentID: platform.random.nextIdentifier(), after: end, timeBefore: time)
        let draft = try spare ?? makeDraft()
        let path = paths.segment(header.firstOffset)
        do {
            try draft.write(bytes, at: 0)
            try draft.sync()
            draft.close()
            // A segment left by an earlier attempt has no commits, and no caller knows of it.
            if try platform.files.exists(path) { try platform.files.remove(path) }
            // IMPORTANT: the header is durable before the name, and the name before anything is appended.
            try platform.files.rename(paths.spare, to: path)
            try platform.files.syncDirectory(paths.log)
        } catch {
            draft.close()
            try? platform.files.remove(paths.spare)
            throw error
        }
        let file = try platform.files.open(path, .write)
        return (SegmentFile(path: path, header: header, seal: nil), file)
    }

    private func makeDraft() throws -> any File {
        if try platform.files.exists(paths.spare) { try platform.files.remove(paths.spare) }
        return try platform.files.open(paths.spare, .create)
    }
}
