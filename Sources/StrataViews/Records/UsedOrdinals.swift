import StrataModel

/// The highest ordinal of each namespace that events of records have used.
struct UsedOrdinals {
    private var user: UInt64 = 0
    private var device: UInt64 = 0
    private var zone: UInt64 = 0
    private var type: UInt64 = 0

    mutating func add(_ place: EventPlace, zone: UInt64, type: UInt64) {
        user = max(user, place.user)
        device = max(device, place.device)
        self.zone = max(self.zone, zone)
        self.type = max(self.type, type)
    }

    /// Ordinals of a namespace ascend, so that a new one is beyond all that could be used.
    func has(_ name: InternedName) -> Bool {
        switch name.name {
        case .user: name.ordinal <= user
        case .device: name.ordinal <= device
        case .zone: name.ordinal <= zone
        case .recordType: name.ordinal <= type
        case .database, .field: false
        }
    }
}
