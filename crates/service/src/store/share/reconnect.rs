//! An open that lost its connection is taken up again by a client that knows its handle, its guid and its lease ([MS-SMB2] sections 3.3.5.9.7 and 3.3.5.9.12).

use std::sync::Arc;

use lazuli_model::smb::AccessMask;

use super::key;
use super::open::NewlyOpened;
use super::opened::OpenKey;
use crate::open_file::{Client, CreateAction, Outcome, Reconnect, Refusal};
use crate::store::record::open::Durable;
use crate::store::record::path::PathRecord;
use crate::store::tree::{Entry as _, NodeId};
use crate::store::unit::Unit;

impl Unit {
    pub(crate) async fn reconnect(
        &self,
        share_name: &Arc<str>,
        client: &Client,
        request: &Reconnect,
    ) -> Outcome<NewlyOpened> {
        let mut unit = self.clone();
        let share = unit.share_of(share_name, None).await?;
        let generation = share.generation;
        let index = unit.reader().get(key::durable(generation, request.handle)).await?;
        let node = index.and_then(|entry| Some(u128::from_be_bytes(entry.value.as_ref().try_into().ok()?)));
        let node = NodeId(node.ok_or(Refusal::ObjectNameNotFound)?);
        let mut rows = unit.open_rows((generation, node)).await?;
        let mut row = rows.get(request.handle).cloned().ok_or(Refusal::ObjectNameNotFound)?;
        let durable = row.durable.ok_or(Refusal::ObjectNameNotFound)?;
        let lease_key = row.open.kept.owner.map(|owner| owner.key);
        let is_known = durable.disconnected.is_some()
            && request.create_guid.is_none_or(|guid| guid == durable.create_guid.unwrap_or(0))
            && lease_key == request.lease_key
            && (lease_key.is_none() || row.client == client.guid);
        if !is_known {
            return Err(Refusal::ObjectNameNotFound);
        }
        let (place, record) =
            unit.place_of_node(share_name, share, node).await?.ok_or(Refusal::ObjectNameNotFound)?;
        if lease_key.is_some() {
            let given = request.path.join("/");
            if PathRecord::fold(&given) != PathRecord::fold(&row.path) {
                return Err(Refusal::InvalidParameter);
            }
        }
        let (now, server) = (unit.now(), unit.services().incarnation());
        rows.change(request.handle, |row| {
            row.durable = Some(Durable { disconnected: None, ..durable });
            row.open.is_disconnected = false;
            row.server = server;
            row.session = client.session;
            row.client = client.guid;
            row.client_address.clone_from(&client.address);
            row.client_name.clone_from(&client.name);
            row.reconnected = Some(now);
        });
        rows.write(&mut unit);
        if let Some(changed) = rows.get(request.handle) {
            row = changed.clone();
        }
        let key = OpenKey {
            share: Arc::clone(share_name),
            generation,
            node,
            handle: request.handle,
            snapshot: None,
        };
        Ok(NewlyOpened {
            key,
            parent: place.parent_number(),
            record,
            action: CreateAction::Opened,
            granted: row.granted,
            maximal: AccessMask::FILE_ALL,
            row,
        })
    }
}
