package stub

import (
	"fmt"

	old "github.com/coreos/ignition/config/v2_4/types"
)

// sectorsOfMiB is how many sectors, in which spec 2 counted until 2.3, make the MiB in which spec 3 counts: sectors have 512
// bytes on all that Ignition's own check of alignment is right for.
const sectorsOfMiB = 2048

// disks are disks once each, with the partitions of all of one device; a table that is wiped once more has only the later ones.
func disks(list []old.Disk) ([]old.Disk, error) {
	var all []old.Disk
	at := map[string]int{}
	for i, disk := range list {
		partitions, err := partitions(item("storage.disks", i), disk.Partitions)
		if err != nil {
			return nil, err
		}
		disk.Partitions = partitions
		j, twice := at[disk.Device]
		switch {
		case !twice:
			at[disk.Device] = len(all)
			all = append(all, disk)
		case disk.WipeTable:
			all[j] = disk
		default:
			all[j].Partitions = append(all[j].Partitions, partitions...)
		}
	}
	for i := range all {
		all[i].Partitions = lastPartitions(all[i].Partitions)
	}
	return all, nil
}

// partitions count in MiB.
func partitions(disk string, list []old.Partition) ([]old.Partition, error) {
	var all []old.Partition
	for i, p := range list {
		if p.Size != nil || p.Start != nil {
			size, whole := mebibytes(p.Size)
			start, aligned := mebibytes(p.Start)
			if !whole || !aligned {
				return nil, unconvertible(item(disk+".partitions", i), fmt.Sprintf("spec 3 counts in MiB, and a size or start of it is no multiple of %d sectors", sectorsOfMiB))
			}
			p.Size, p.Start, p.SizeMiB, p.StartMiB = nil, nil, size, start
		}
		all = append(all, p)
	}
	return all, nil
}

func mebibytes(sectors *int) (count *int, whole bool) {
	if sectors == nil {
		return nil, true
	}
	return new(*sectors / sectorsOfMiB), *sectors%sectorsOfMiB == 0
}

// lastPartitions leaves of partitions with one number the last. Those without number are new ones each.
func lastPartitions(list []old.Partition) []old.Partition {
	at := map[int]int{}
	for i, p := range list {
		at[p.Number] = i
	}
	var all []old.Partition
	for i, p := range list {
		if p.Number == 0 || at[p.Number] == i {
			all = append(all, p)
		}
	}
	return all
}
