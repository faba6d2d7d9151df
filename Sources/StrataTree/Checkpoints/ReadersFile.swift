import StrataModel
import StrataSystem

/// The epochs that other processes read: docs/format-views.md §8.
final class ReadersFile: Sendable {
    let file: any File

    init(_ file: any File) { self.file = file }

    // MARK: The writer's side

    /// Extends the file to hold all slots, so that readers never change its size.
    func fill() throws {
        let (size, full) = (try file.size(), ViewFormat.readerSlots * ViewFormat.readerSlotBytes)
        if size < full { try file.write([UInt8](repeating: 0, count: full - size), at: size) }
    }

    /// The epochs of live slots; clears the slots of processes that have ended.
    func liveEpochs() throws -> [UInt64] {
        let bytes = try file.read(count: ViewFormat.readerSlots * ViewFormat.readerSlotBytes, at: 0)
        var epochs: Set<UInt64> = []
        for index in 0..<bytes.count / ViewFormat.readerSlotBytes {
            let place = index * ViewFormat.readerSlotBytes
            let slot = bytes[place..<place + ViewFormat.readerSlotBytes]
            guard slot.contains(where: { $0 != 0 }) else { continue }
            if try !file.isLockedElsewhere(byte: place) {
                try clearUnlessTaken(place)
            } else if let epoch = Self.epoch(of: Array(slot)) {
                epochs.insert(epoch)
            }
        }
        return epochs.sorted()
    }

    /// The pinned epochs that have readers; all of them if that cannot be determined.
    func liveEpochs(orAll pinned: [UInt64]) -> [UInt64] {
        let pinned = Set(pinned)
        guard let live = try? liveEpochs() else { return pinned.sorted() }
        return live.filter { pinned.contains($0) }
    }

    private func clearUnlessTaken(_ place: Int) throws {
        guard try file.tryLock(byte: place) else { return }
        defer { try? file.unlock(byte: place) }
        try file.write([UInt8](repeating: 0, count: ViewFormat.readerSlotBytes), at: place)
    }

    // MARK: A reader's side

    /// Takes a free slot.
    func takeSlot() throws -> ReaderSlot {
        for index in 0..<ViewFormat.readerSlots {
            let place = index * ViewFormat.readerSlotBytes
            if try file.tryLock(byte: place) { return ReaderSlot(file: file, place: place) }
        }
        throw StrataError(
            .locked, "Too many processes read this store.",
            .init(path: file.path, expected: "at most \(ViewFormat.readerSlots)"))
    }

    // MARK: Slots

    static func slot(epoch: UInt64, process: UInt32) -> [UInt8] {
        var slot = ByteWriter()
        slot.append(epoch)
        slot.append(process)
        slot.append(slot.bytes.withUnsafeBytes { CRC32C.checksum($0) })
        return slot.bytes
    }

    static func epoch(of slot: [UInt8]) -> UInt64? {
        slot.withUnsafeBytes { bytes in
            let sum = CRC32C.checksum(bytes.keeping(ViewFormat.readerSlotBytes - 4))
            let stored = bytes.loadUnaligned(fromByteOffset: ViewFormat.readerSlotBytes - 4, as: UInt32.self)
            let epoch = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
            return UInt32(littleEndian: stored) == sum && epoch < ViewFormat.epochLimit ? epoch : nil
        }
    }
}

/// A slot that this process holds until the object is released.
final class ReaderSlot: Sendable {
    private let file: any File
    private let place: Int

    init(file: any File, place: Int) {
        self.file = file
        self.place = place
    }

    func set(epoch: UInt64) throws {
        let process = UInt32(bitPattern: ProcessIdentity.current.identifier)
        try file.write(ReadersFile.slot(epoch: epoch, process: process), at: place)
    }

    deinit {
        // Only the lock counts: if clearing fails, the writer clears the slot later.
        try? file.write([UInt8](repeating: 0, count: ViewFormat.readerSlotBytes), at: place)
        try? file.unlock(byte: place)
    }
}
