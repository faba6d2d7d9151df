extension SimulatedDisk {
    /// How much of what was not synced a loss of power leaves.
    package enum PowerLoss: Sendable, CaseIterable {
        /// Each sector, size and name is old, new, or torn, as the seed has it.
        case random
        /// The least that a medium may keep.
        case nothingUnsynced
        /// The most: all but what a failed sync forgot.
        case everything
    }

    /// The disk that shows up if power is lost at this moment: nothing open, no locks, faults, hook or counts.
    ///
    /// Callable at any time, from ``beforeCall`` too, and as often as one likes: this disk goes on unharmed. A call
    /// that is under way has happened or not; freezing before a sync also covers power lost in the midst of it.
    package func afterPowerLoss(seed: UInt64, keeping: PowerLoss = .random) -> SimulatedDisk {
        state.withLock { state in
            switch keeping {
            case .random:
                var fate = RandomFate(seed: seed)
                return SimulatedDisk(state.afterPowerLoss(&fate))
            case .nothingUnsynced, .everything:
                var fate = UniformFate(keeps: keeping == .everything)
                return SimulatedDisk(state.afterPowerLoss(&fate))
            }
        }
    }
}

extension SimulatedDiskState {
    fileprivate func afterPowerLoss(_ fate: inout some UnsyncedFate) -> SimulatedDiskState {
        var survivor = SimulatedDiskState(numberingAfter: self)
        survivor.names = names.afterPowerLoss(&fate)
        // In a fixed order, so that a seed always means the same.
        for number in survivor.names.reachable.sorted() {
            survivor.inodes[number] = inodes[number]?.afterPowerLoss(&fate)
        }
        survivor.capacityBytes = capacityBytes
        survivor.isReadOnly = isReadOnly
        survivor.time = time
        survivor.denied = denied
        return survivor
    }
}
