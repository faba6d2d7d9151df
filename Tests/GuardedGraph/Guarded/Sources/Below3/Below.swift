public let below3 = 3
